"""Bad input ends with one clear message, before anything is measured."""

import pytest


def refused(workflow, *arguments: str) -> str:
    """What Snakemake says, which fails without a trace of the program."""
    done = workflow.snakemake(*arguments)
    assert done.returncode != 0
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("study=smal", "config/config.yaml: study: unknown study 'smal'; did you mean 'small'?"),
        ("scale=-1", "config/config.yaml: scale: must be greater than 0, but is -1"),
        ("provider=podman", "config/config.yaml: provider: must be one of auto, native"),
        ("sclae=0.1", "config/config.yaml: sclae: unknown key; did you mean 'scale'?"),
    ],
)
def test_a_wrong_config(workflow, config, message):
    assert message in refused(workflow, "-n", "--config", config)


def test_a_wrong_study(workflow):
    path = "config/studies/small/study.yaml"
    workflow.edit(path, lambda s: s.update(stores=["pretand"]))
    message = f"{path}: stores[0]: unknown store 'pretand'; did you mean 'pretend'?"
    assert message in refused(workflow, "-n")


def test_a_workload_that_a_store_cannot_do(workflow):
    path = "config/studies/small/study.yaml"
    of_memcached = {"stores": ["memcached"], "workloads": ["a", "e"], "tables": [], "figures": []}
    workflow.edit(path, lambda s: s.update(of_memcached))
    message = f"{path}: workloads[1]: workload 'e' has the operation scan, which Memcached cannot"
    assert message in refused(workflow, "-n")


def test_a_typing_error_in_a_workload(workflow):
    workload = workflow.folder / "workloads" / "c"
    workload.write_text(workload.read_text().replace("readproportion", "readpropotion"))
    message = "readpropotion: unknown property; did you mean 'readproportion'?"
    assert message in refused(workflow, "-n")


def test_results_that_cannot_be_written(workflow):
    # A file where the folder should be: also root, who may write anywhere, cannot use it.
    (workflow.folder / "results").write_text("")
    message = "results/small/logs: cannot be made: results is a file"
    assert message in refused(workflow, "results/small/cells.csv")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("figures", "figures/small: cannot be made: figures is a file; move it away"),
        (".snakemake/kvstudy.lock/x", ".snakemake/kvstudy.lock: cannot be written: Is a directory"),
    ],
)
def test_what_is_in_the_way_is_told_before_anything_is_measured(workflow, name, message):
    path = workflow.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert message in refused(workflow, "results/small/cells.csv")
    assert not list(workflow.folder.glob("results/small/raw/*"))


def test_a_wrong_claim_is_told_before_anything_is_measured(workflow):
    (workflow.folder / "config/studies/small/claims.yaml").write_text("claims: []\n")
    message = "config/studies/small/claims.yaml: claims: must be"
    assert message in refused(workflow, "-n", "results/small/cells.csv")


def test_a_scale_of_any_size(workflow):
    message = "and YCSB counts to 2147483647; give"
    assert message in refused(workflow, "-n", "--config", "scale=1e9")
    # Its run is called small-scale1e+06, and a plus has a meaning in patterns.
    sizes = {"records": 1000, "operations": 2000, "threads": 1}
    workflow.edit("config/studies/small/study.yaml", lambda s: s.update(parameters=sizes))
    done = workflow.snakemake("-n", "--config", "scale=1e6")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "report/small-scale1e+06.pdf" in done.stdout
    for scale in ("inf", "nan"):
        message = "config/config.yaml: scale: must be a finite number"
        assert message in refused(workflow, "-n", "--config", f"scale={scale}")


def test_a_config_that_is_no_good_yaml(workflow):
    path = workflow.folder / "config/config.yaml"
    text = path.read_text()
    for wrong, message in (
        (f"{text}\nstudy: other\n", "the key 'study' appears twice"),
        (f"{text}\nx: {'[' * 5000}\n", "its values are nested more than 40 levels deep; write"),
    ):
        path.write_text(wrong)
        assert f"config/config.yaml: {message}" in refused(workflow, "-n")
