// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts with the numbers that are hard to draw: no two texts overlap, none leaves the picture.

use super::*;

/// A number in 0..1 that depends on `i` only.
fn noise(i: usize) -> f64 {
    let z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((z ^ (z >> 29)) >> 11) as f64 / (1_u64 << 53) as f64
}

const LABELS: [&str; 12] = [
    "DCTCP-RED-Tail",
    "ECN#",
    "CoDel",
    "TCN",
    "DCTCP-RED-AVG",
    "ECN# with pst_target = 85 us and pst_interval = 240 us",
    "队列长度",
    "PIE",
    "MQ-ECN",
    "CEDM",
    "a",
    "WRED & <b>",
];

fn bars(schemes: usize, metrics: usize, scale: f64) -> Chart {
    let row = |m: usize, i: usize| {
        let value = scale * (noise(m * 31 + i) - 0.6);
        let interval = (value - scale * noise(i), value + 4.0 * scale * noise(i + 7));
        Row {
            label: LABELS[i].to_owned(),
            colour: i,
            value: (i > 0).then_some(value),
            interval: (i > 0).then_some(interval),
            published: (i == 1).then_some(-20.0),
            text: match i {
                0 => "845 µs".to_owned(),
                _ => of_group::difference(value, Some(interval)),
            },
            tip: format!("{} & {value}", LABELS[i]),
            ..Row::default()
        }
    };
    let panel = |m: usize| Panel {
        title: format!("short mean FCT {m}"),
        note: "less is better".to_owned(),
        body: Body::Rows(Rows {
            axis: Axis::new("", Unit::Percent),
            origin: Some(0.0),
            rows: (0..schemes).map(|i| row(m, i)).collect(),
        }),
    };
    Chart {
        name: "bars".to_owned(),
        title: "Schemes against DCTCP-RED-Tail, load 0.9".to_owned(),
        caption: "Difference from DCTCP-RED-Tail; the lines are paired 95 % intervals.".to_owned(),
        legend: Vec::new(),
        panels: (0..metrics).map(panel).collect(),
    }
}

fn lines_of(schemes: usize, panels: usize, spots: usize, scale: f64) -> Chart {
    let spot = |p: usize, i: usize, k: usize| {
        let y = scale * (noise(p * 77 + i * 13 + k) - 0.6);
        Spot {
            x: 0.1 * (k + 1) as f64,
            y,
            band: Some((y - scale * noise(k), y + 5.0 * scale * noise(k + i))),
            tip: format!("{}: {y}", LABELS[i]),
        }
    };
    let curve = |p: usize, i: usize| Curve {
        label: LABELS[i].to_owned(),
        colour: i,
        spots: (0..spots).map(|k| spot(p, i, k)).collect(),
    };
    let panel = |p: usize| Panel {
        title: format!("delay {p}0us"),
        note: String::new(),
        body: Body::Curves(Curves {
            x: Axis {
                at: (0..spots).map(|k| 0.1 * (k + 1) as f64).collect(),
                ..Axis::new("load", Unit::Other(String::new()))
            },
            y: Axis::new("difference from DCTCP-RED-Tail", Unit::Percent),
            origin: Some(0.0),
            form: Form::Dotted,
            marks: Vec::new(),
            curves: (1..schemes).map(|i| curve(p, i)).collect(),
        }),
    };
    let key = |i: usize| Key {
        label: LABELS[i].to_owned(),
        colour: i,
    };
    Chart {
        name: "lines".to_owned(),
        title: "Short mean FCT over load, against DCTCP-RED-Tail".to_owned(),
        caption: "Percent against DCTCP-RED-Tail.".to_owned(),
        legend: (0..schemes).map(key).collect(),
        panels: (0..panels).map(panel).collect(),
    }
}

fn strips(schemes: usize, most: f64) -> Chart {
    let panel = |i: usize| Panel {
        title: LABELS[i].to_owned(),
        note: String::new(),
        body: Body::Times(Curves {
            x: Axis {
                range: Some((0.0, 41_000.0)),
                ..Axis::new("time", Unit::Micros)
            },
            y: Axis {
                range: Some((0.0, most)),
                ..Axis::new("", Unit::Bytes)
            },
            origin: None,
            form: Form::Dotted,
            marks: Vec::new(),
            curves: vec![Curve {
                label: LABELS[i].to_owned(),
                colour: i,
                spots: (0..200)
                    .map(|k| Spot {
                        x: 205.0 * k as f64,
                        y: most * 0.5 * noise(i + k),
                        band: Some((0.0, most * noise(k))),
                        tip: format!("at {k}"),
                    })
                    .collect(),
            }],
        }),
    };
    Chart {
        name: "strips".to_owned(),
        title: "Queue length over time, port leaf3->host52".to_owned(),
        caption: "All panels show port leaf3->host52.".to_owned(),
        legend: Vec::new(),
        panels: (0..schemes).map(panel).collect(),
    }
}

fn dots() -> Chart {
    let row = |i: usize| Row {
        label: format!("{} short flows' mean FCT against RED-Tail", LABELS[i]),
        colour: 1,
        value: Some(-30.0 + i as f64),
        interval: Some((-35.0, -20.0 + 100.0 * (i % 2) as f64)),
        band: Some((-28.0, f64::INFINITY)),
        published: Some(-23.4),
        text: format!("{}.00", i),
        tip: String::new(),
    };
    Chart {
        name: "dots".to_owned(),
        title: "ECNSHARP-T18: web search".to_owned(),
        caption: String::new(),
        legend: Vec::new(),
        panels: vec![Panel {
            title: String::new(),
            note: String::new(),
            body: Body::Rows(Rows {
                axis: Axis::new("", Unit::Other("percent".to_owned())),
                origin: None,
                rows: (0..4).map(row).collect(),
            }),
        }],
    }
}

/// Chart of bars side by side, with a published value at one place and one over several.
fn upright(schemes: usize, panels: usize, places: usize, scale: f64) -> Chart {
    let mut chart = lines_of(schemes, panels, places, scale);
    for panel in &mut chart.panels {
        let Body::Curves(curves) = &mut panel.body else {
            continue;
        };
        curves.x.at.clear();
        curves.x.names = (0..places).map(|k| format!("{} senders", 8 * k)).collect();
        let wide = 0.7 / schemes as f64;
        for (i, curve) in curves.curves.iter_mut().enumerate() {
            for (k, spot) in curve.spots.iter_mut().enumerate() {
                spot.x = k as f64 + wide * i as f64 - 0.35;
                spot.y = spot.y.abs();
            }
        }
        curves.y = Axis::new("relative to DCTCP-RED-Tail", Unit::Other(String::new()));
        curves.form = Form::Bars(0.9 * wide);
        let mark = |places: &[(f64, f64)]| Mark {
            colour: (places.len() > 1).then_some(1),
            places: places.to_vec(),
            tip: "published <T1>".to_owned(),
        };
        let last = places as f64 - 1.0;
        curves.marks = vec![
            mark(&[(0.0, 1.4 * scale)]),
            mark(&[(0.0, 0.3 * scale), (last, 0.3 * scale)]),
        ];
    }
    chart
}

/// Width of 241 pt, a column of a paper.
const COLUMN: f64 = 241.0 / 0.75;

/// Distributions over orders of magnitude.
fn shares(schemes: usize, panels: usize, largest: f64) -> Chart {
    let mut chart = lines_of(schemes, panels, 100, 1.0);
    for panel in &mut chart.panels {
        let Body::Curves(curves) = &mut panel.body else {
            continue;
        };
        curves.x = Axis {
            log: true,
            ..Axis::new("completion time", Unit::Micros)
        };
        curves.y = Axis::new("share of flows", Unit::default());
        (curves.form, curves.origin) = (Form::Plain, None);
        for curve in &mut curves.curves {
            for (k, spot) in (0..).zip(&mut curve.spots) {
                let share = f64::from(k + 1) / 100.0;
                (spot.x, spot.y, spot.band) = (largest.powf(share), share, None);
            }
        }
    }
    chart
}

/// Maps of some schemes over two axes, beside curves.
fn maps(schemes: usize, columns: usize, lines: usize, scale: f64) -> Chart {
    let names = |label: &str, many: usize| Names {
        label: label.to_owned(),
        names: (0..many).map(|k| format!("{}us", 40 * k)).collect(),
    };
    let tile = |i: usize| {
        (i % 7 != 6).then(|| Tile {
            percent: scale * (noise(i) - 0.6),
            better: [Some(true), Some(false), None][i % 3],
            is_largest: i.is_multiple_of(5),
            is_decided: i.is_multiple_of(2),
            tip: format!("<{i}>"),
        })
    };
    let panel = |i: usize| {
        let map = Heat {
            colour: 1,
            across: names("ECN#: pst_interval", columns),
            down: names("a parameter with a long name of its own", lines),
            tiles: (0..columns * lines).map(|k| tile(100 * i + k)).collect(),
            most: scale,
        };
        Panel::new(LABELS[i], Body::Heat(map))
    };
    let mut chart = lines_of(3, 2, 4, scale);
    let curves = std::mem::take(&mut chart.panels);
    chart.panels = (0..schemes).map(panel).chain(curves).collect();
    chart
}

/// No text of a page is smaller than 12 units of the least width in which it is shown.
#[test]
fn texts_of_pages_can_be_read() {
    for chart in hard() {
        for (_, width) in FORMS {
            let sheet = draw::sheet(&chart, width, false);
            assert!(sheet.written().all(|t| t.size >= 12.0), "{}", chart.name);
        }
    }
}

/// Panels have one width: plots of different lines begin at the same places.
#[test]
fn panels_of_all_lines_have_one_width() {
    for (many, columns) in [
        (1, 1),
        (2, 2),
        (3, 3),
        (4, 2),
        (5, 3),
        (6, 3),
        (7, 3),
        (8, 2),
        (9, 3),
    ] {
        let sheet = draw::sheet(&lines_of(3, many, 4, 40.0), 940.0, false);
        let plots = sheet.shapes.iter().filter_map(|s| match s {
            shapes::Shape::Plot(within) => Some((within.least.0, within.size.0)),
            _ => None,
        });
        let places: std::collections::BTreeSet<(i32, i32)> = plots.collect();
        assert_eq!(places.len(), columns, "{many} panels: {places:?}");
    }
}

#[test]
fn the_legend_of_a_page_switches_the_shapes_of_its_scheme() {
    let page = lines_of(3, 1, 4, 40.0).inline();
    for k in ["1", "2"] {
        assert!(page.contains(&format!("<button type=\"button\" data-k=\"{k}\"")));
        assert!(page.contains(&format!("<g data-k=\"{k}\">")));
    }
    assert!(page.contains("<g class=\"plot\" data-box=\""));
    assert!(!page.contains("data-first"), "few schemes are all visible");
    let mut crowd = strips(5, 3e5);
    let curves = crowd.panels.iter().flat_map(|p| match &p.body {
        Body::Times(curves) => curves.curves.clone(),
        _ => Vec::new(),
    });
    let panel = Panel::over_time("", (0.0, 41e3), Unit::Bytes, 3e5, curves.collect());
    crowd.panels = vec![panel];
    crowd.legend = lines_of(5, 1, 1, 1.0).legend;
    assert!(
        crowd
            .inline()
            .contains("<ul class=\"legend\" data-first=\"2\">")
    );
}

fn hard() -> Vec<Chart> {
    let mut all = vec![dots(), strips(1, 1.0), strips(5, 3e5), strips(12, 4e6)];
    for (schemes, columns, lines, scale) in [(1, 2, 2, 1.0), (2, 5, 3, 40.0), (4, 12, 9, 900.0)] {
        all.push(maps(schemes, columns, lines, scale));
    }
    for (panels, largest) in [(1, 1e3), (3, 4e6), (2, 7.0), (1, 3e10)] {
        all.push(shares(5, panels, largest));
    }
    for (schemes, scale) in [(2, 1e-3), (5, 40.0), (12, 80.0), (12, 900.0), (3, 0.0)] {
        for panels in [1, 3, 7] {
            all.push(bars(schemes, panels, scale));
            for places in if panels == 1 { [1, 2, 9] } else { [1, 2, 2] } {
                all.push(upright(schemes, panels, places, scale));
            }
            for spots in [1, 2, 6, 30] {
                all.push(lines_of(schemes, panels, spots, scale));
            }
        }
    }
    all
}

/// (what is wrong) of the texts of a drawing.
fn faults(sheet: &shapes::Sheet) -> Vec<String> {
    let (width, height) = (sheet.width, sheet.height);
    let mut wrong = Vec::new();
    for (i, a) in sheet.texts.iter().enumerate() {
        if a.left < -0.5 || a.right > width + 0.5 || a.top < -0.5 || a.bottom > height + 0.5 {
            wrong.push(format!("{a:?} leaves {width} x {height}"));
        }
        for b in &sheet.texts[i + 1..] {
            let beside = a.right <= b.left + 0.5 || b.right <= a.left + 0.5;
            let apart = a.bottom <= b.top + 0.5 || b.bottom <= a.top + 0.5;
            if !beside && !apart {
                wrong.push(format!("{a:?} overlaps {b:?}"));
            }
        }
    }
    wrong
}

#[test]
fn texts_do_not_overlap_and_stay_inside() {
    for chart in hard() {
        let forms = FORMS.map(|(_, width)| (width, false));
        let files = [(FILE, true), (COLUMN, true), (300.0, true)];
        for (width, titled) in forms.into_iter().chain(files) {
            let sheet = draw::sheet(&chart, width, titled);
            let wrong = faults(&sheet);
            assert!(!sheet.texts.is_empty());
            assert!(
                wrong.is_empty(),
                "{} with {} panels at {width}:\n{}",
                chart.name,
                chart.panels.len(),
                wrong.join("\n")
            );
        }
    }
}

/// The test above finds texts that overlap.
#[test]
fn an_overlap_is_found() {
    let mut sheet = draw::sheet(&dots(), FILE, true);
    let mut again = sheet.texts[0].clone();
    again.left += 3.0;
    again.right += 3.0;
    sheet.texts.push(again);
    assert_eq!(faults(&sheet).len(), 1);
}

#[test]
fn files_are_small_and_have_everything_inside() {
    for chart in hard() {
        let svg = chart.svg(Width::default());
        let many = chart.panels.len();
        assert!(
            svg.len() < 150_000,
            "{many} {}: {} bytes",
            chart.name,
            svg.len()
        );
        assert!(!svg.contains("class="), "{}", chart.name);
        assert!(
            !svg.contains("NaN") && !svg.contains("inf\""),
            "{}",
            chart.name
        );
        for address in svg.match_indices("://") {
            let before = &svg[..address.0];
            assert!(
                before.contains("xmlns") && address.0 < 120,
                "{}",
                chart.name
            );
        }
    }
    for chart in hard() {
        let pdf = chart.pdf(Width::default());
        assert!(pdf.starts_with(b"%PDF"));
        assert!(pdf.len() < 60_000, "{}: {} bytes", chart.name, pdf.len());
        let has = |word: &[u8]| pdf.windows(word.len()).any(|w| w == word);
        assert!(has(b"FontFile"), "{}: the font is inside", chart.name);
        assert!(pdf == chart.pdf(Width::default()), "{}", chart.name);
    }
}

#[test]
fn characters_that_the_font_lacks_are_known() {
    assert!(bars(5, 1, 40.0).lacking().is_empty());
    assert_eq!(bars(12, 1, 40.0).lacking(), "队列长度".chars().collect());
}

#[test]
fn what_leaves_the_axis_has_an_arrow_and_its_number() {
    let mut chart = bars(3, 1, 40.0);
    let Body::Rows(rows) = &mut chart.panels[0].body else {
        panic!("bars");
    };
    rows.rows[1].interval = Some((-30.0, 4321.0));
    let sheet = draw::sheet(&chart, FILE, true);
    assert!(sheet.texts.iter().any(|t| t.text == "+4321"));
    let mut chart = lines_of(3, 1, 4, 40.0);
    let Body::Curves(curves) = &mut chart.panels[0].body else {
        panic!("lines");
    };
    curves.curves[0].spots[2].band = Some((-4321.0, 10.0));
    let sheet = draw::sheet(&chart, FILE, true);
    assert!(sheet.texts.iter().any(|t| t.text == "−4321"));
}

#[test]
fn labels_are_escaped_and_values_hover() {
    let page = bars(12, 1, 40.0).inline();
    assert!(page.contains("WRED &amp; &lt;b&gt;") && !page.contains("<b>"));
    assert!(page.contains("<title>ECN# &amp; "));
    assert_eq!(page.matches("<svg").count(), 3);
    // Colours come from the page.
    assert!(!page.contains('#') || !page.contains("fill=\"#"));
}

#[test]
fn a_published_value_is_a_diamond_that_lies_inside_the_plot() {
    let chart = upright(3, 1, 4, 1.0);
    let page = chart.inline();
    assert_eq!(
        page.matches("<title>published &lt;T1&gt;</title>").count(),
        6
    );
    // The axis reaches as far as the published value that is above all measured ones.
    let Body::Curves(curves) = &chart.panels[0].body else {
        panic!("curves");
    };
    let highest = curves.curves.iter().flat_map(|c| &c.spots);
    assert!(highest.map(|s| s.y).fold(0.0, f64::max) < 1.4);
    let sheet = draw::sheet(&chart, FILE, true);
    let number = |text: &str| text.parse::<f64>().ok();
    let numbers = sheet.texts.iter().filter_map(|t| number(&t.text));
    assert!(numbers.fold(0.0, f64::max) >= 1.0);
}

/// `CEMARK_CHARTS=DIR cargo test -p cemark-report charts_to_look_at` writes them as files.
#[test]
fn charts_to_look_at() {
    let Some(dir) = std::env::var_os("CEMARK_CHARTS") else {
        return;
    };
    let dir = std::path::PathBuf::from(dir);
    let mut page = format!(
        "<!doctype html><meta charset=utf-8><style>{}</style>",
        style()
    );
    page += "<meta name=viewport content='width=device-width'><body style='background: \
             var(--paper); margin: 24px'>";
    for (i, chart) in hard().iter().enumerate() {
        let name = format!("{i:02}-{}", chart.name);
        std::fs::write(dir.join(format!("{name}.svg")), chart.svg(Width::default()))
            .expect("a directory");
        std::fs::write(dir.join(format!("{name}.pdf")), chart.pdf(Width::default()))
            .expect("a directory");
        page += &chart.inline();
    }
    std::fs::write(dir.join("page.html"), page).expect("a directory");
}
