// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Pareto front: candidates to which no other is at least as good in every cost and better in
//! one.

/// Whether each candidate is on the front. A row holds the costs of a candidate, less is better;
/// a candidate that lacks a cost is not on the front.
pub(crate) fn front(costs: &[Vec<Option<f64>>]) -> Vec<bool> {
    let whole: Vec<Option<Vec<f64>>> = costs
        .iter()
        .map(|row| row.iter().copied().collect())
        .collect();
    let beats = |a: &[f64], b: &[f64]| {
        let mut pairs = a.iter().zip(b);
        pairs.clone().all(|(a, b)| a <= b) && pairs.any(|(a, b)| a < b)
    };
    let is_on = |own: &Option<Vec<f64>>| {
        let Some(own) = own else { return false };
        !whole.iter().flatten().any(|other| beats(other, own))
    };
    whole.iter().map(is_on).collect()
}

#[cfg(test)]
mod tests {
    use super::front;

    #[test]
    fn a_candidate_that_another_beats_is_not_on_the_front() {
        let costs = [
            vec![Some(-10.0), Some(5.0)],
            vec![Some(-5.0), Some(0.0)],
            vec![Some(-5.0), Some(1.0)],
            vec![Some(0.0), Some(0.0)],
            vec![Some(-20.0), None],
        ];
        assert_eq!(front(&costs), [true, true, false, false, false]);
    }

    #[test]
    fn equals_are_on_the_front_together() {
        let costs = [vec![Some(1.0)], vec![Some(1.0)], vec![Some(2.0)]];
        assert_eq!(front(&costs), [true, true, false]);
    }
}
