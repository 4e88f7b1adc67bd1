#!/usr/bin/env bash
# Installs what is missing, on Debian or Ubuntu, as root or through sudo:
#   install.sh build    what the build of `lay` and the first example need
#   install.sh tests    what the tests need as well (the default)
#   install.sh checks   what the checks of continuous integration need as well
set -euo pipefail
what=${1:-tests}

packages=(
  g++ cmake ninja-build         # the compiler and the build
  antlr4 libantlr4-runtime-dev  # the parser generator and its runtime
  libcli11-dev                  # the command line
  nlohmann-json3-dev            # what `lay bench` reads of Triton and PyTorch
  python3                       # prepares the digits of the first example
)
browser=()
if [ "$what" != build ]; then
  packages+=(
    catch2 git
    make file dpkg-dev  # users' projects in CMake, and packages for Debian
    python3-dev         # the package for Python: its module in C
    python3-numpy       # and its arrays
    python3-jsonschema  # the manifest's schema
  )
  # A browser for the tests of the pages that `lay show` writes, and a font for it. They are skipped
  # where there is none.
  browser=(chromium fonts-dejavu-core)
fi
if [ "$what" = checks ]; then
  packages+=(clang-format clang-tidy)
fi

is_installed() {
  [ "$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null || true)" = "install ok installed" ]
}
missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
missing_browser=()
for package in "${browser[@]}"; do
  is_installed "$package" || missing_browser+=("$package")
done
[ ${#missing[@]} -eq 0 ] && [ ${#missing_browser[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    [ ${#missing[@]} -eq 0 ] && exit 0
    echo "missing packages: ${missing[*]}; install them as root, or install sudo" >&2
    exit 1
  fi
  as_root=(sudo)
fi
install() {
  echo "installing: $*"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@"
}
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq || [ ${#missing[@]} -eq 0 ]
[ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
[ ${#missing_browser[@]} -eq 0 ] || install "${missing_browser[@]}" ||
  echo "no browser: its tests are skipped" >&2
