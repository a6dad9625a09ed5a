# DIR VERSION REQUIRES: in DIR the wheel of a `snake` of this VERSION, which says that its Python must be as REQUIRES says. Its tool
# is the same as that of 1.0, whose wheel is there.
import os
import sys
import zipfile

directory, version, requires = sys.argv[1:]
with zipfile.ZipFile(os.path.join(directory, "snake-1.0-py3-none-any.whl")) as first:
    files = {name: first.read(name).decode() for name in first.namelist()}
with zipfile.ZipFile(os.path.join(directory, f"snake-{version}-py3-none-any.whl"), "w") as wheel:
    for name, text in files.items():
        if name.endswith("/METADATA"):
            text = text.replace("Version: 1.0\n", f"Version: {version}\nRequires-Python: {requires}\n")
        wheel.writestr(name.replace("snake-1.0.dist-info", f"snake-{version}.dist-info"), text)
