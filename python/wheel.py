"""Writes the wheel of a build: wheel.py BUILD FOLDER.

The wheel has the package, its module in C, the shared library with the runtime of ANTLR beside it,
and the licences.
Nothing is compiled, and nothing is asked of the network: it is a zip of a fixed order and time, the
same for the same build byte for byte. The format is that of the PyPA's "Binary distribution format"
(wheel 1.0).
"""

import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent

METADATA = """\
Metadata-Version: 2.1
Name: lay
Version: {version}
Summary: Layouts and the GPU kernels that they make: a language, its proofs and its compiler
License-File: LICENSE
License-File: NOTICES.md
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == 'numpy'
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: lay
Root-Is-Purelib: false
Tag: {tag}
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def antlr_runtime(library):
    """The shared runtime that the library is linked to: its name there, and its file."""
    for line in run("ldd", str(library)).splitlines():
        found = re.match(r"\s*(libantlr4-runtime\S*) => (\S+)", line)
        if found:
            return found[1], pathlib.Path(found[2])
    raise SystemExit(f"{library} is not linked to ANTLR's runtime")


def glibc(*libraries):
    """The oldest version of glibc with all that the libraries ask of it: "2_34"."""
    symbols = "".join(run("objdump", "-T", str(library)) for library in libraries)
    asked = re.findall(r"\bGLIBC_2\.(\d+)", symbols)
    return f"2_{max(map(int, asked))}"


def stripped(file, folder):
    copy = folder / file.name
    run("strip", "--strip-unneeded", "-o", str(copy), str(file))
    return copy.read_bytes()


def contents(build, prefix, folder):
    """The wheel's files but for the two that name all others."""
    version = re.search(r"project\(lay VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
    library = next(prefix.rglob("liblay.so.1"))
    name, runtime = antlr_runtime(library)
    # Where the build had no headers of Python there is no module, and the package works without.
    modules = sorted((build / "python").glob("*.abi3.so"))
    tag = f"py3-none-manylinux_{glibc(library, runtime, *modules)}_{platform.machine()}"
    files = {f"lay/{path.name}": path.read_bytes() for path in (SOURCE / "python/lay").glob("*.py")}
    files["lay/liblay.so.1"] = stripped(library, folder)
    files[f"lay/{name}"] = stripped(runtime, folder)
    files.update({f"lay/{module.name}": stripped(module, folder) for module in modules})
    info = f"lay-{version}.dist-info"
    for licence in ("LICENSE", "NOTICES.md"):
        files[f"{info}/licenses/{licence}"] = (SOURCE / licence).read_bytes()
    description = (SOURCE / "python/README.md").read_text()
    files[f"{info}/METADATA"] = METADATA.format(version=version, description=description).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    return version, tag, info, files


def record(files, info):
    """A line a file: its name, the digest of its bytes, and how many there are."""
    lines = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
        lines.append(f"{name},sha256={digest.decode()},{len(files[name])}")
    return "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()


def write(build, to):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("cmake", "--install", str(build), "--prefix", str(folder / "lay"))
        version, tag, info, files = contents(build, folder / "lay", folder)
    files[f"{info}/RECORD"] = record(files, info)
    to.mkdir(parents=True, exist_ok=True)
    wheel = to / f"lay-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        # What says what is in it comes last, as the format asks for.
        for path in sorted(files, key=lambda each: (".dist-info/" in each, each)):
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if ".so" in path else 0o100644) << 16
            archive.writestr(entry, files[path], compresslevel=9)
    return wheel


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(write(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
