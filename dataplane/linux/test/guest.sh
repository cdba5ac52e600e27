#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh ROOT RELEASE OUT SCRIPT [NAME=VALUE]...: writes OUT.cpio, an initramfs with what the
# scripts of the tests need of the Debian in ROOT, in which the module is installed, with the other
# programs of it that PROGRAMS names, and in /test with the files that TAKE names. debian.sh uses
# it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$1 release=$2 out=$3 script=$4
shift 4
inside() { unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" "$@"; }
rm -rf "$out"
mkdir -p "$out"/{dev,proc,sys,tmp,run,root,etc,usr/{bin,sbin,lib,lib64,share}}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$out/$name"; done
ln -s /run "$out/var-run"
mkdir "$out/var" && mv "$out/var-run" "$out/var/run"
echo 'root:x:0:0::/root:/bin/sh' >"$out/etc/passwd"
# Programs with their libraries, at the same paths.
take() { tar -C "$root" -cf - "$@" | tar -C "$out" -xf - --keep-directory-symlink; }
programs=()
for name in bash ip tc ss iperf3 python3 kmod busybox ${PROGRAMS:-}; do
  programs+=("$(inside sh -c "readlink -f \$(command -v $name)")")
done
libraries=$(inside sh -c "ldd ${programs[*]} /usr/lib/python3*/lib-dynload/*.so || :" 2>/dev/null |
  awk '$2 == "=>" && $3 ~ "^/" { print $3 } $1 ~ "^/" && $2 ~ "^[(]" { print $1 }' | sort -u)
# Loaded when a thread is cancelled.
libraries+=" $(cd "$root" && find usr/lib -name libgcc_s.so.1 -printf '/%p')"
for file in "${programs[@]}" $libraries; do
  mkdir -p "$out$(dirname "$file")"
  cp -Ln "$root$file" "$out$file"
done
# Where `make install` has put the plugin.
python=$(cd "$root/usr/lib" && echo python3.*)
ln -sf "$python" "$out/usr/bin/python3"
take --exclude=test --exclude=idlelib --exclude=ensurepip "usr/lib/$python" \
  $(cd "$root" && find usr/lib -name q_cemark.so)
for name in $("$out/usr/bin/busybox" --list); do
  [ -e "$out/usr/bin/$name" ] || [ -e "$out/usr/sbin/$name" ] || ln -s busybox "$out/usr/bin/$name"
done
for name in modprobe insmod rmmod; do ln -sf ../bin/kmod "$out/usr/sbin/$name"; done
# The module as DKMS has installed it, those it is tested with, and what they need.
inside depmod "$release"
wanted="sch_cemark veth dummy ifb tun bridge 8021q wireguard
  sch_htb sch_tbf sch_netem sch_codel sch_fq_codel sch_red
  sch_prio sch_drr sch_multiq sch_mqprio sch_ingress cls_u32 cls_matchall cls_basic cls_bpf
  act_skbedit act_mirred tcp_dctcp tcp_diag inet_diag"
for name in $wanted; do
  inside modprobe -S "$release" --show-depends "$name" 2>/dev/null || true
done | awk '$1 == "insmod" { print substr($2, 2) }' | sort -u >"$out.modules"
take -T "$out.modules" "lib/modules/$release/modules.builtin" "lib/modules/$release/modules.order"
inside test -e "/lib/modules/$release/modules.builtin.modinfo" &&
  take "lib/modules/$release/modules.builtin.modinfo"
mkdir -p "$out/test"
cp -r "$here"/. "$out/test/"
cp "$root"/srv/linux/*.ko "$out/test/"
cp "$script" "$out/test/" 2>/dev/null || true
for file in ${TAKE:-}; do cp "$file" "$out/test/"; done
/sbin/depmod -b "$out" "$release"
for pair in "$@"; do
  printf 'export %s=%q\n' "${pair%%=*}" "${pair#*=}"
done >"$out/variables"
printf 'export %s=%q\n' RUN "/test/$(basename "$script")" HERE /test MODULE /test \
  LOAD "modprobe sch_cemark" VARIABLES /variables >>"$out/variables"
cp "$here/init.sh" "$out/init"
printf '#!/bin/sh\nexec busybox poweroff -f\n' >"$out/usr/bin/halt.sh"
rm -f "$out/usr/bin/halt" "$out/usr/sbin/halt"
mv "$out/usr/bin/halt.sh" "$out/usr/bin/halt"
chmod +x "$out/usr/bin/halt" "$out/init"
(cd "$out" && find . | cpio -o -H newc --quiet) >"$out.cpio"
rm -rf "$out"
