"""The set-up script, in a copy of the project with fake programs; what it installs is real in CI.

The copy's PATH holds only the tools that the script itself needs, so every package is missing
there, and fake apt-get, mvn and Python stand for the slow steps.
"""

import contextlib
import fcntl
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = 65534
PYTHON_LOCKS = ["bootstrap", "requirements", "test", "cluster"]
# What the script itself calls; the rest of this machine is out of sight.
TOOLS = """basename bash cat chmod cp cut dirname du env find flock grep id ls mkdir paste rm sed
sha256sum sleep sort stat tail touch true uname xargs"""
PROGRAMS = (
    "javac java mvn curl redis-server memcached pandoc latexmk pdflatex kpsewhich pdftotext "
    "chromium slurmctld slurmd munged ip ss sshd"
)

FAKE_PYTHON = """#!/bin/bash
# Stands for a Python: knows `-c` (the version check) and `-m venv FOLDER`.
[[ $1 == -c ]] && exit 0
[[ $1 == --version ]] && { echo Python 3.11.0; exit; }
mkdir -p "$3/bin"
cat >"$3/bin/python" <<'FAKE_VENV_PYTHON'
#!/bin/bash
echo "$@" >>"$CALLS/pip"
[[ ! -e $CALLS/pip-fails ]]
FAKE_VENV_PYTHON
chmod +x "$3/bin/python"
"""
# Makes the programs that the packages would bring. While $CALLS/locked has a line, another works.
FAKE_APT_GET = """#!/bin/bash
if [[ -s $CALLS/locked ]]; then
    cat "$CALLS/locked"
    [[ -e $CALLS/locked-for-ever ]] || : >"$CALLS/locked"
    exit 100
fi
echo "$@" >>"$CALLS/apt-get"
[[ $* == *install* ]] || exit 0
[[ ! -e $CALLS/no-network ]] || exit 100
for program in $PROGRAMS; do
    printf '#!/bin/bash\\necho javac 17.0.1\\n' >"$BIN/$program"
    chmod +x "$BIN/$program"
done
cp "$BIN/fake-mvn" "$BIN/mvn"
[[ ! -e $CALLS/apt-fails ]] || { echo redis-server >"$BIN/half-configured"; exit 100; }
rm -f "$BIN/half-configured"
"""
# What dpkg knows of a package: here only those that an apt has left half done.
FAKE_DPKG_QUERY = """#!/bin/bash
grep -qsx "${@: -1}" "$BIN/half-configured" && echo half-configured
"""
# As sudo is on cloud images: a rule of the group asks for a password, one of the user does not.
FAKE_SUDO = """#!/bin/bash
while [[ $1 == -* ]]; do
    [[ $1 != -v ]] || { echo "sudo: a password is required" >&2; exit 1; }
    shift
done
exec "$@"
"""
FAKE_MVN = """#!/bin/bash
[[ $MAVEN_OPTS == *-Djansi.noreset=true* ]] || printf '\\033[0m\\033[0m'
echo "$@" >>"$CALLS/mvn"
mkdir -p "$BINDINGS/target/lib"
echo jar >"$BINDINGS/target/lib/kvstudy-bindings.jar"
"""


class Machine:
    """A bare machine with a copy of the project; `run` calls the set-up there."""

    def __init__(self, folder: Path, distribution: str = "ID=debian\nVERSION_ID=12\n"):
        self.project = folder / "project"
        self.bin = folder / "bin"
        self.calls = folder / "calls"
        self.bin.mkdir()
        self.calls.mkdir()
        shutil.copytree(ROOT / "envs", self.project / "envs")
        shutil.copy(ROOT / "pyproject.toml", self.project)
        (self.project / "workflow/bindings/src").mkdir(parents=True)
        (self.project / "workflow/bindings/pom.xml").write_text("<project/>\n")
        for tool in TOOLS.split():
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.add("apt-get", FAKE_APT_GET)
        self.add("fake-mvn", FAKE_MVN)
        self.add("dpkg", "#!/bin/bash\n")
        self.add("dpkg-query", FAKE_DPKG_QUERY)
        self.add("sudo", FAKE_SUDO)
        self.add("fake-python", FAKE_PYTHON)
        self.os_release = folder / "os-release"
        self.os_release.write_text(distribution)

    def add(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def run(
        self, *arguments: str, prefix: tuple[str, ...] = (), **variables: str
    ) -> subprocess.CompletedProcess:
        command = [*prefix, str(self.project / "envs/setup"), *arguments]
        return subprocess.run(
            command,
            env=self.environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": str(self.bin),
            "HOME": str(self.project),
            "OS_RELEASE": str(self.os_release),
            "PYTHON": "fake-python",
            "CALLS": str(self.calls),
            "BIN": str(self.bin),
            "PROGRAMS": PROGRAMS,
            "BINDINGS": str(self.project / "workflow/bindings"),
        }

    def called(self, program: str) -> list[str]:
        log = self.calls / program
        return log.read_text().splitlines() if log.exists() else []

    def forget_calls(self) -> None:
        for log in self.calls.iterdir():
            log.unlink()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def system_packages() -> list[list[str]]:
    lines = (ROOT / "envs/system/packages.txt").read_text().splitlines()
    return [line.split(maxsplit=4) for line in lines if line and not line.startswith("#")]


def study_packages() -> list[str]:
    return [package for group, package, *_ in system_packages() if group == "study"]


def test_says_what_it_installs_then_installs_it_once(machine):
    first = machine.run()

    assert first.returncode == 0, first.stderr
    plan, _, work = first.stdout.partition("Installing packages with apt")
    for group, package, _, _, reason in system_packages():
        if (group, package) != ("study", "python3-venv"):  # the fake Python is there
            assert (package in plan and reason in plan) == (group == "study")
    assert "PyPI" in plan
    assert "Maven Central" in plan
    assert "The set-up is complete" in work
    update, install = machine.called("apt-get")
    assert "update" in update
    assert "--no-install-recommends" in install
    assert "redis-server" in install
    assert "poppler-utils" not in install

    machine.forget_calls()
    second = machine.run()

    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert [machine.called(program) for program in ("apt-get", "pip", "mvn")] == [[], [], []]


def test_python_packages_come_from_the_locks_with_hashes(machine):
    machine.run()

    bootstrap, lock, package = machine.called("pip")
    assert "--require-hashes" in bootstrap
    assert bootstrap.endswith("bootstrap.txt")
    assert "--require-hashes --no-build-isolation" in lock
    assert lock.endswith("requirements.txt")
    assert "--no-deps --no-build-isolation --no-index --editable" in package


def test_group_test_adds_only_its_own_packages(machine):
    machine.run("study")
    machine.forget_calls()
    (machine.bin / "pdftotext").unlink()

    done = machine.run("study", "test")

    assert done.returncode == 0, done.stderr
    assert machine.called("apt-get")[-1].endswith("--no-install-recommends poppler-utils")
    # The tests start a cluster.
    assert locks(machine) == ["test.txt", "cluster.txt"]
    assert machine.run("study", "test").stdout == ""


def locks(machine: Machine) -> list[str]:
    """What was installed into .venv."""
    calls = machine.called("pip")
    assert all("--require-hashes" in call for call in calls)
    return [Path(call.split()[-1]).name for call in calls]


def test_group_cluster_adds_one_lock_and_no_package(machine):
    machine.run("study")
    machine.forget_calls()

    done = machine.run("study", "cluster")

    assert done.returncode == 0, done.stderr
    assert machine.called("apt-get") == []
    assert locks(machine) == ["cluster.txt"]
    assert machine.run("study", "cluster").stdout == ""


def test_unknown_machine_is_told_what_to_install(tmp_path):
    machine = Machine(tmp_path, 'ID=arch\nNAME="Arch Linux"\n')

    done = machine.run()

    assert done.returncode == 1
    for _, package, _, _, reason in system_packages():
        if package in study_packages() and package != "python3-venv":
            assert re.search(rf"^  {package} +{re.escape(reason)}$", done.stderr, re.MULTILINE)
    assert machine.called("apt-get") == []
    assert not (machine.project / ".venv").exists()


def test_unknown_machine_with_every_program_goes_on(machine):
    machine.os_release.write_text("ID=arch\n")
    for program in PROGRAMS.split():
        machine.add(program, "#!/bin/bash\necho javac 21.0.1\n")
    machine.add("mvn", FAKE_MVN)

    done = machine.run()

    assert done.returncode == 0, done.stderr
    assert machine.called("apt-get") == []
    assert "The set-up is complete" in done.stdout


def test_java_that_is_too_old_counts_as_missing(machine):
    machine.run()
    machine.add("javac", "#!/bin/bash\necho javac 11.0.2\n")
    machine.os_release.write_text("ID=arch\n")

    done = machine.run()

    assert done.returncode == 1
    assert "default-jdk-headless" in done.stderr
    assert "maven" not in done.stderr


@pytest.fixture
def users_machine():
    """A machine and what is before a command there that is not root's."""
    # Not tmp_path: another user must be able to read it.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        machine = Machine(Path(folder))
        prefix = ()
        if os.geteuid() == 0:
            prefix = (shutil.which("setpriv"), f"--reuid={NOBODY}", "--clear-groups")
            for path in (machine.bin, machine.calls, machine.project, *machine.project.rglob("*")):
                os.chown(path, NOBODY, -1)
        yield machine, prefix


def test_without_root_and_sudo_it_is_told_what_to_install(users_machine):
    machine, prefix = users_machine
    (machine.bin / "sudo").unlink()

    done = machine.run(prefix=prefix)

    assert done.returncode == 1
    assert "root or sudo" in done.stderr
    assert "redis-server" in done.stderr
    assert machine.called("apt-get") == []


def test_a_user_whose_group_would_need_a_password_but_not_he_himself(users_machine):
    machine, prefix = users_machine

    done = machine.run(prefix=prefix)

    assert done.returncode == 0, done.stderr
    assert "redis-server" in machine.called("apt-get")[-1]


@pytest.mark.parametrize("cause", ["sudo", "network"])
def test_after_a_refused_try_what_the_user_has_installed_counts(users_machine, cause):
    """Also another JDK than the distribution's."""
    machine, prefix = users_machine
    if cause == "sudo":
        machine.add("sudo", "#!/bin/bash\necho 'sudo: a password is required' >&2\nexit 1\n")
    else:
        (machine.calls / "no-network").touch()
    refused = machine.run(prefix=prefix)
    assert refused.returncode == 1
    assert "call again" in refused.stderr
    for program in PROGRAMS.split():
        machine.add(program, "#!/bin/bash\necho javac 21.0.1\n")
    machine.add("mvn", FAKE_MVN)

    done = machine.run(prefix=prefix)

    assert done.returncode == 0, done.stderr
    assert "The set-up is complete" in done.stdout


@pytest.mark.parametrize("program", ["apt-get", "dpkg"])
def test_another_apt_is_waited_for(machine, program):
    held = {
        "apt-get": "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt)",
        "dpkg": "dpkg: error: dpkg frontend lock was locked by process 7 (apt)",
    }
    machine.add("dpkg", FAKE_APT_GET.replace("$CALLS/apt-get", "$CALLS/dpkg"))
    (machine.calls / "locked").write_text(f"{held[program]}\n")

    done = machine.run()

    assert done.returncode == 0, done.stderr
    assert "waiting, at most 15 min: process 7 (apt) uses apt or dpkg" in done.stdout

    (machine.calls / "locked").write_text(f"{held[program]}\n")
    (machine.calls / "locked-for-ever").touch()
    (machine.bin / "redis-server").unlink()
    limited = machine.run(APT_WAIT_S="0")
    assert limited.returncode == 1
    assert "process 7 (apt) still uses apt or dpkg" in limited.stderr
    assert "call again" in limited.stderr


def test_a_home_that_cannot_be_written_is_named_before_anything_is_installed(users_machine):
    machine, prefix = users_machine
    home = machine.project.with_name("home")
    home.mkdir(mode=0o555)

    done = machine.run(prefix=prefix, HOME=str(home))

    assert done.returncode == 1
    for word in ("KVSTUDY_STATE", "XDG_CACHE_HOME", "MAVEN_OPTS=-Dmaven.repo.local", "Set HOME"):
        assert word in done.stderr
    assert machine.called("apt-get") == []
    elsewhere = {
        name: str(machine.project / "home") for name in ("KVSTUDY_STATE", "XDG_CACHE_HOME")
    }
    repository = {"MAVEN_OPTS": f"-Dmaven.repo.local={machine.project}/m2"}
    assert machine.run(prefix=prefix, HOME=str(home), **elsewhere, **repository).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", [".setup", ".venv/bin", "workflow/bindings/target"])
def test_after_sudo_make_it_says_whose_the_clone_is(users_machine, name):
    machine, prefix = users_machine
    (machine.project / name).mkdir(parents=True)
    (machine.project / name / "lock").touch(mode=0o644)

    done = machine.run(prefix=prefix)

    assert done.returncode == 1
    assert f"{machine.project / Path(name).parts[0]}" in done.stderr
    assert "belongs to root, and nobody, who calls this, cannot write there" in done.stderr
    assert "The clone belongs to nobody" in done.stderr
    assert f"sudo chown -R nobody: {machine.project}" in done.stderr
    assert "Permission denied" not in done.stderr


@contextlib.contextmanager
def held(path: Path, text: str):
    """The lock of somebody who says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        lock.write(text)
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def test_nothing_is_installed_beside_snakemake(machine):
    with held(machine.project / ".snakemake/kvstudy.lock", "process 7, since 9:00: snakemake\n"):
        done = machine.run()
    assert done.returncode == 1
    assert "Snakemake works in this clone (process 7, since 9:00: snakemake)" in done.stderr
    assert machine.called("apt-get") == []
    assert machine.run().returncode == 0
    # Where nothing is missing, nobody is disturbed.
    with held(machine.project / ".snakemake/kvstudy.lock", "process 7\n"):
        assert machine.run().returncode == 0


def test_the_set_up_waits_for_a_measurement_elsewhere(machine, tmp_path):
    path = tmp_path / "state" / platform.node() / "measure.lock"
    environment = machine.environment | {"KVSTUDY_STATE": str(tmp_path / "state")}
    command = [machine.project / "envs/setup"]
    with held(path, "process 7 in /elsewhere is measuring"):
        running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        lines = iter(running.stdout.readline, "")
        assert any("Waiting: process 7 in /elsewhere is measuring" in line for line in lines)
        assert machine.called("apt-get") == []
    assert "The set-up is complete" in running.communicate(timeout=60)[0]
    assert "is installing" in path.read_text()


def test_a_store_has_its_packages_alone(machine):
    machine.run("study")
    machine.forget_calls()
    (machine.project / "pyproject.toml").write_text("[changed]\n")

    # A check of files of the distribution: whether they are on this machine does not matter.
    done = machine.run("etcd", "mysql", "redis")

    assert machine.called("apt-get")[-1].endswith("--no-install-recommends etcd-server npm")
    assert [machine.called(program) for program in ("pip", "mvn")] == [[], []]
    # The fake apt brings none of them.
    assert "apt installed the packages, but these are still not found" in done.stderr


def test_clean_removes_what_was_installed_and_no_result(machine):
    machine.run()
    raw = machine.project / "results/jedlicka2024/raw/redis/a/r1/rep1/SHA256SUMS"
    for path in (raw, machine.project / "report/x.pdf", machine.project / "servers/mysql/mysqld"):
        path.parent.mkdir(parents=True)
        path.touch()

    def clean(*arguments: str, answer: str = "") -> subprocess.CompletedProcess:
        return subprocess.run(
            [machine.project / "envs/clean", *arguments],
            env=machine.environment,
            input=answer,
            capture_output=True,
            text=True,
        )

    done = clean()
    assert done.returncode == 0, done.stderr
    for name in (".venv", ".setup", "servers", "workflow/bindings/target"):
        assert not (machine.project / name).exists(), name
        assert name in done.stdout
    assert re.search(r"sudo apt-get remove --auto-remove .*redis-server", done.stdout)
    assert raw.exists()
    for answer in ("", "no\n"):
        assert clean("--results", answer=answer).returncode == 1
        assert raw.exists()
    done = clean("--results", answer="yes\n")
    assert done.returncode == 0, done.stderr
    assert not raw.exists()
    assert not (machine.project / "report/x.pdf").exists()


def test_make_says_maven_to_write_no_codes_of_a_terminal():
    command = ["make", "--eval", "check: ; $(MVN) --offline validate", "check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert "\033" not in done.stdout + done.stderr


def test_failed_apt_is_taken_up_again(machine):
    (machine.calls / "apt-fails").touch()

    failed = machine.run()

    assert failed.returncode == 1
    assert "apt could not install" in failed.stderr
    assert "redis-server" in failed.stderr
    assert machine.called("pip") == []

    # The programs are there now, but nobody knows whether their packages are complete.
    machine.forget_calls()
    again = machine.run()

    assert again.returncode == 0, again.stderr
    assert "redis-server" in machine.called("apt-get")[-1]
    assert machine.run().stdout == ""


def test_failed_pip_is_taken_up_again(machine):
    (machine.calls / "pip-fails").touch()

    failed = machine.run()

    assert failed.returncode == 1
    assert "bootstrap.txt" in machine.called("pip")[0]
    assert "call again" in failed.stderr

    machine.forget_calls()
    leftover = machine.project / ".venv/leftover"
    leftover.touch()
    again = machine.run()

    assert again.returncode == 0, again.stderr
    assert not leftover.exists()
    assert len(machine.called("pip")) == 3


def test_changed_lock_makes_a_new_environment(machine):
    machine.run()
    machine.forget_calls()
    with (machine.project / "envs/python/requirements.txt").open("a") as lock:
        lock.write("# changed\n")

    assert "Making .venv" in machine.run().stdout
    assert machine.called("mvn") == []


def test_changed_source_builds_the_bindings_again(machine):
    machine.run()
    machine.forget_calls()
    (machine.project / "workflow/bindings/src/Store.java").write_text("class Store {}\n")

    done = machine.run()

    assert done.returncode == 0, done.stderr
    assert "\033" not in done.stdout
    assert len(machine.called("mvn")) == 1
    # A driver's old version would stay on the class path otherwise.
    assert "clean package" in machine.called("mvn")[0]
    assert machine.called("pip") == []


@pytest.mark.parametrize("spoil", [Path.unlink, lambda jar: jar.write_text("j")])
def test_a_jar_that_is_missing_or_broken_builds_the_bindings_again(machine, spoil):
    machine.run()
    machine.forget_calls()
    assert machine.run().returncode == 0
    assert machine.called("mvn") == []
    jar = machine.project / "workflow/bindings/target/lib/kvstudy-bindings.jar"
    spoil(jar)

    assert machine.run().returncode == 0

    assert len(machine.called("mvn")) == 1
    assert jar.read_text() == "jar\n"


def test_foreign_environment_is_left_alone(machine):
    theirs = machine.project / ".venv/theirs"
    theirs.parent.mkdir()
    theirs.touch()

    done = machine.run()

    assert done.returncode == 1
    assert "was not made by this script" in done.stderr
    assert theirs.exists()


def test_list_names_every_package_and_installs_nothing(machine):
    done = machine.run("--list")

    assert done.returncode == 0, done.stderr
    lines = {line.split()[1]: line for line in done.stdout.splitlines()}
    for group, package, _, _, reason in system_packages():
        assert lines[package].split()[0] == group
        assert lines[package].endswith(reason)
    assert lines["redis-server"].split()[2] == "missing"
    assert not (machine.project / ".setup").exists()


@pytest.mark.parametrize(
    "name", ['a"b', "a$b", "a`b", "a\\b", "a:b", "a;b", "a, b", "a{b}", "a\tb", "a\nb", "a\n"]
)
def test_a_folder_that_a_tool_would_misread_is_refused(machine, name):
    machine.project = machine.project.rename(machine.project.with_name(name))

    done = machine.run()

    assert done.returncode == 1
    shown = re.sub("[\t\n]", "?", str(machine.project))
    assert f"set-up: {shown}: kvstudy cannot work in a folder whose path has" in done.stderr
    assert "move the clone elsewhere" in done.stderr
    assert not (machine.project / ".venv").exists()
    assert [machine.called(program) for program in ("apt-get", "pip", "mvn")] == [[], [], []]


@pytest.mark.parametrize("name", ["Složka s mezerou", "it's", "-rf", "100%", "a#b&c(1)[2]*?~!"])
def test_a_folder_with_an_unusual_name_is_fine(machine, name):
    machine.project = machine.project.rename(machine.project.with_name(name))

    done = machine.run()

    assert done.returncode == 0, done.stderr
    assert "The set-up is complete" in done.stdout


def test_unknown_argument_is_refused(machine):
    done = machine.run("stduy")

    assert done.returncode == 1
    assert "unknown argument 'stduy'" in done.stderr


@pytest.mark.parametrize("name", PYTHON_LOCKS)
def test_lock_has_a_hash_for_every_package_and_no_address(name):
    text = (ROOT / f"envs/python/{name}.txt").read_text()
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]

    for entry in entries:
        assert re.match(r"[a-z0-9.-]+(\[[a-z,]+\])?==[0-9][^ ]* ", entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text


@pytest.mark.parametrize("name", PYTHON_LOCKS)
def test_direct_dependencies_are_pinned_with_a_reason_and_locked(name):
    lock = (ROOT / f"envs/python/{name}.txt").read_text()
    lines = (ROOT / f"envs/python/{name}.in").read_text().splitlines()

    for line in lines:
        if not line or line.startswith(("#", "-c ")):
            continue
        pinned = re.fullmatch(r"([a-z0-9-]+==[0-9.]+(?:\.post\d+)?) +# .+", line)
        assert pinned, f"{name}.in: not '<package>==<version>  # <reason>': {line}"
        assert re.search(rf"^{re.escape(pinned[1])} ", lock, re.MULTILINE), (
            f"{name}.txt is older than {name}.in ({pinned[1]}): run `make lock`"
        )


def test_latex_packages_of_the_report_are_installed():
    used = set()
    for template in (ROOT / "report/templates").rglob("*.j2"):
        for names in re.findall(r"\\usepackage(?:\[[^\]]*\])?\{([^}]*)\}", template.read_text()):
            used |= {name.strip() for name in names.split(",")}
    assert used

    for name in sorted(used):
        output = subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True)
        assert output.returncode == 0, f"{name}.sty: add its package to envs/system/packages.txt"


def make_dry(*arguments: str) -> str:
    return subprocess.run(
        ["make", "--dry-run", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["study"], "snakemake --cores 4"),
        (["demo"], "snakemake --cores 4 --config scale=0.01"),
        (["demo", "SCALE=0.1"], "snakemake --cores 4 --config scale=0.1"),
        (["partial", "STUDY=x"], "snakemake report_partial --cores 4 --config study=x"),
        (["study", "PROVIDER=docker"], "snakemake --cores 4 --config provider=docker"),
    ],
)
def test_make_passes_its_variables_on(arguments, command):
    setup, run = make_dry(*arguments).splitlines()

    assert setup == "envs/setup study"
    assert run.endswith(f'/.venv/bin:$PATH" {command}')


def test_ci_ends_with_the_test_command():
    lines = (ROOT / ".ci/run").read_text().splitlines()

    assert lines[-1] == "make test"
    assert "set -euo pipefail" in lines
