#!/usr/bin/env bash
# Installs what building and testing needs and is missing, on Debian or Ubuntu, as root or through sudo.
set -euo pipefail

packages=(
  g++ cmake ninja-build                  # the compiler and the build
  antlr4 libantlr4-runtime-dev           # the parser generator and its runtime
  libcli11-dev nlohmann-json3-dev        # command line, JSON in the tests
  catch2                                 # the tests
  python3 python3-numpy python3-sklearn  # the digits of the first example
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "missing packages: ${missing[*]}; install them as root, or install sudo" >&2; exit 1; }
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
