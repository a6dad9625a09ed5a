# DIR NEEDS URL: a wheel of the server `snake`, which needs NEEDS, the source of `egg`, whose build asks URL, and in DIR/newer
# that of a newer `snake`, whose build does, too.
import io
import os
import sys
import tarfile
import zipfile

directory, needs, url = sys.argv[1:]

SERVER = """
import json, sys
def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "initialize":
            answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "snake", "version": "1"}}
        elif message["method"] == "tools/list":
            # A set, in whose order Python is free.
            at = " ".join({"cats", "dogs", "frogs", "hens", "mice", "newts", "owls"})
            answer["result"] = {"tools": [{"name": "hiss", "description": at, "inputSchema": {"type": "object"}}]}
        elif message["method"] == "tools/call":
            answer["result"] = {"content": [{"type": "text", "text": sys.version.split()[0]}]}
        else:
            answer["error"] = {"code": -32601, "message": "no"}
        print(json.dumps(answer), flush=True)
"""

# Builds itself, without any other package.
BACKEND = f"""
import os, urllib.request, zipfile
urllib.request.urlopen({url!r}).read()
META = "Metadata-Version: 2.1\\nName: egg\\nVersion: 1.0\\n"
WHEEL = "Wheel-Version: 1.0\\nGenerator: egg\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "egg-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("egg.py", "")
        wheel.writestr("egg-1.0.dist-info/METADATA", META)
        wheel.writestr("egg-1.0.dist-info/WHEEL", WHEEL)
        wheel.writestr("egg-1.0.dist-info/RECORD", "")
    return name
"""

PROJECT = '[build-system]\nrequires = []\nbuild-backend = "laid"\nbackend-path = ["."]\n'
META = "Metadata-Version: 2.1\nName: {}\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: snake\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

with zipfile.ZipFile(os.path.join(directory, "snake-1.0-py3-none-any.whl"), "w") as wheel:
    wheel.writestr("snake.py", SERVER)
    about = "snake-1.0.dist-info"
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    wheel.writestr(f"{about}/METADATA", META.format("snake") + requires)
    wheel.writestr(f"{about}/WHEEL", WHEEL)
    wheel.writestr(f"{about}/entry_points.txt", "[console_scripts]\nsnake = snake:main\n")
    wheel.writestr(f"{about}/RECORD", "")

# What somebody may want beside it.
with zipfile.ZipFile(os.path.join(directory, "tail-1.0-py3-none-any.whl"), "w") as wheel:
    wheel.writestr("tail.py", "")
    wheel.writestr("tail-1.0.dist-info/METADATA", META.format("tail"))
    wheel.writestr("tail-1.0.dist-info/WHEEL", WHEEL)
    wheel.writestr("tail-1.0.dist-info/entry_points.txt", "[console_scripts]\ntail = tail:main\n")
    wheel.writestr("tail-1.0.dist-info/RECORD", "")

# The same, of a server.
NEWER = BACKEND.replace("egg", "snake").replace("1.0", "2.0").replace("Wheel-Version: 2.0", "Wheel-Version: 1.0").replace(
    'wheel.writestr("snake.py", "")',
    f'wheel.writestr("snake.py", {SERVER!r})\n        wheel.writestr("snake-2.0.dist-info/entry_points.txt", "[console_scripts]\\nsnake = snake:main\\n")',
)


def pack(to, name, version, backend):
    files = {"pyproject.toml": PROJECT, "laid.py": backend, "PKG-INFO": META.format(name).replace("1.0", version)}
    source = os.path.join(to, name)
    os.makedirs(source)
    with tarfile.open(os.path.join(to, f"{name}-{version}.tar.gz"), "w:gz") as archive:
        for path, text in files.items():
            with open(os.path.join(source, path), "w") as file:
                file.write(text)
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


pack(directory, "egg", "1.0", BACKEND)
pack(os.path.join(directory, "newer"), "snake", "2.0", NEWER)
