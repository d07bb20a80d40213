"""Bad input ends with one clear message, before anything is measured."""

import pytest


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
    done = workflow.snakemake("-n", "--config", config)
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_wrong_study(workflow):
    path = "config/studies/small/study.yaml"
    workflow.edit(path, lambda s: s.update(stores=["pretand"]))
    done = workflow.snakemake("-n")
    assert done.returncode != 0
    assert (
        f"{path}: stores[0]: unknown store 'pretand'; did you mean 'pretend'?"
        in done.stdout + done.stderr
    )
    assert "Traceback" not in done.stdout + done.stderr


def test_a_workload_that_a_store_cannot_do(workflow):
    path = "config/studies/small/study.yaml"
    workflow.edit(path, lambda s: s.update(stores=["memcached"], workloads=["a", "e"], tables=[]))
    workflow.edit(path, lambda s: s.update(figures=[]))
    done = workflow.snakemake("-n")
    assert done.returncode != 0
    assert f"{path}: workloads[1]: workload 'e' has the operation scan, which Memcached cannot" in (
        done.stdout + done.stderr
    )


def test_a_typing_error_in_a_workload(workflow):
    workload = workflow.folder / "workloads" / "c"
    workload.write_text(workload.read_text().replace("readproportion", "readpropotion"))
    done = workflow.snakemake("-n")
    assert done.returncode != 0
    assert (
        "unknown property 'readpropotion'; did you mean 'readproportion'?"
        in done.stdout + done.stderr
    )


def test_results_that_cannot_be_written(workflow):
    # A file where the folder should be: also root, who may write anywhere, cannot use it.
    (workflow.folder / "results").write_text("")
    done = workflow.snakemake("results/small/cells.csv")
    assert done.returncode != 0
    assert "results/small/logs: cannot be made: results is a file" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


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
    done = workflow.snakemake("results/small/cells.csv")
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not list(workflow.folder.glob("results/small/raw/*"))


def test_a_wrong_claim_is_told_before_anything_is_measured(workflow):
    (workflow.folder / "config/studies/small/claims.yaml").write_text("claims: []\n")
    done = workflow.snakemake("-n", "results/small/cells.csv")
    assert done.returncode != 0
    assert "config/studies/small/claims.yaml: claims: must be" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_scale_of_any_size(workflow):
    done = workflow.snakemake("-n", "--config", "scale=1e9")
    assert done.returncode != 0
    assert "and YCSB counts to 2147483647; give" in done.stdout + done.stderr
    # Its run is called small-scale1e+06, and a plus has a meaning in patterns.
    sizes = {"records": 1000, "operations": 2000, "threads": 1}
    workflow.edit("config/studies/small/study.yaml", lambda s: s.update(parameters=sizes))
    done = workflow.snakemake("-n", "--config", "scale=1e6")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "report/small-scale1e+06.pdf" in done.stdout
    for scale in ("inf", "nan"):
        done = workflow.snakemake("-n", "--config", f"scale={scale}")
        assert "config/config.yaml: scale: must be a finite number" in done.stdout + done.stderr


def test_a_config_that_is_no_good_yaml(workflow):
    path = workflow.folder / "config/config.yaml"
    text = path.read_text()
    for wrong, message in (
        (f"{text}\nstudy: other\n", "the key 'study' stands there twice"),
        (f"{text}\nx: {'[' * 5000}\n", "its values are nested more than 40 levels deep; write"),
    ):
        path.write_text(wrong)
        done = workflow.snakemake("-n")
        assert done.returncode != 0
        assert f"config/config.yaml: {message}" in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
