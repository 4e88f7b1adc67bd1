#!/usr/bin/env bash
# Installs the Debian packages of a build into a fresh root of a release, with their dependencies,
# uses them there, removes them and looks for what stayed: tests/embed/root.sh PACKAGES [SUITE].
#
# PACKAGES is the folder that `cpack` wrote; SUITE is this machine's release if it is left out. It
# needs root, debootstrap and a mirror (MIRROR), and is skipped with a reason where one is missing.
# Whatever is mounted meanwhile is seen by this script alone.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
if [ $# -lt 1 ] || [ -z "$(ls "$1"/*.deb 2>/dev/null)" ]; then
  echo "usage: tests/embed/root.sh PACKAGES [SUITE]; no package in \`${1:-}\`" >&2
  exit 2
fi
packages=$(realpath "$1")
suite=${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
mirror=${MIRROR:-http://deb.debian.org/debian}

skip() {
  echo "skipped: $1"
  exit 0
}
[ "$(id -u)" = 0 ] || skip "only root may make a root folder"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
if [ -z "${LAY_OWN_MOUNTS:-}" ]; then
  unshare -m true 2>/dev/null || skip "this machine gives no namespace for mounts"
  LAY_OWN_MOUNTS=1 exec unshare -m bash "$0" "$packages" "$suite"
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase "$suite" "$root/new" "$mirror" > "$root/log" 2>&1 ||
  skip "debootstrap of $suite from $mirror failed: $(tail -n 1 "$root/log")"
mkdir "$root/new/work"
cp "$packages"/*.deb "$root/new/work"
# The snippet in C of docs/embedding.md that calls the library.
awk '/^```c$/ {snippet += 1; next} /^```/ {inside = 0} snippet == 2 && !ended {print}
     snippet == 2 && /^}/ {ended = 1}' "$here/../../docs/embedding.md" > "$root/new/work/layouts.c"

cat > "$root/new/work/steps.sh" <<'STEPS'
set -euo pipefail
cd /work
export DEBIAN_FRONTEND=noninteractive HOME=/work LANG=C.UTF-8
step() { echo "== $*"; }
# All that is installed and all files, but for those that apt and dpkg keep for themselves.
state() {
  dpkg-query -W -f '${Package} ${Status}\n'
  find / -xdev \( -path /work -o -path /proc -o -path /tmp -o -path /var/cache -o -path /var/log \
    -o -path /var/lib/apt -o -path '/var/lib/dpkg/*-old' \) -prune -o -print | sort
}
apt-get update -qq
apt-get install -y -qq --no-install-recommends gcc libc6-dev > log 2>&1 || { cat log; exit 1; }
state > before

step install
apt-get install -y -qq ./*.deb > log 2>&1 || { cat log; exit 1; }
dpkg-query -W -f '${Package} ${Version}, ${Installed-Size} KiB\n' lay liblay1 liblay-dev
{ state | diff before - || true; } | sed -n 's/^> \(.*\) install ok installed$/with it: \1/p'
step use
lay --version
echo '(4,2):(1,4) o 2:4' | lay eval
lay check /usr/share/doc/lay/examples/07_hopper_gemm.lay | tail -n 1
gcc -Wall -Werror layouts.c -llay -o layouts
./layouts > said
head -n 1 said
step remove
apt-get purge -y -qq lay liblay1 liblay-dev > log 2>&1 || { cat log; exit 1; }
apt-get autoremove --purge -y -qq > log 2>&1 || { cat log; exit 1; }
state > after
diff before after || { echo "the lines above came or went with the packages" >&2; exit 1; }
echo "nothing is left"
STEPS
chroot "$root/new" bash /work/steps.sh
