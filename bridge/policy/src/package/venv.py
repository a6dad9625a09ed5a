# Makes a virtual environment, with the pip that Python brings along unpacked into it. `python -m venv` has that pip install
# itself instead, which takes ten times as long. In: the environment's directory. Python 3.8 or newer.
import glob
import os
import sys
import sysconfig
import venv
import zipfile


def pips():
    # Systems that package Python may keep the wheel elsewhere than beside ensurepip.
    places = [sysconfig.get_config_var("WHEEL_PKG_DIR"), "/usr/share/python-wheels"]
    try:
        import ensurepip

        places.insert(0, os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"))
    except ImportError:
        pass
    return [found for place in places if place for found in glob.glob(os.path.join(glob.escape(place), "pip-*.whl"))]


found = pips()
if not found:
    sys.exit("this Python brings no pip along; install the package of your system that holds ensurepip (python3-venv), or uv")
environment = sys.argv[1]
venv.EnvBuilder(symlinks=True).create(environment)
with zipfile.ZipFile(found[0]) as pip:
    pip.extractall(os.path.join(environment, "lib", "python%d.%d" % sys.version_info[:2], "site-packages"))
