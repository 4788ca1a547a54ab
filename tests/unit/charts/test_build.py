"""`make chart`: what it copies, what it writes into values.yaml, and the archive of Kueue's chart."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from charts import build
from tests.unit.charts.chart import read


def test_every_pack_in_the_chart_is_the_file_in_rules_byte_for_byte(chart):
    copied = chart / "files" / "packs"
    files = {file.relative_to(copied) for file in copied.rglob("*.yaml")} - {build.Path("index.yaml")}
    there = {
        file.relative_to(build.RULES) for folder in build.FOLDERS for file in (build.RULES / folder).rglob("*.yaml")
    }
    assert files == there
    assert all((copied / file).read_bytes() == (build.RULES / file).read_bytes() for file in there)


def test_the_index_names_every_file_once_under_a_key_that_a_config_map_takes(chart):
    index = json.loads((chart / "files" / "packs" / "index.yaml").read_text("utf-8"))
    names = [(pack["kind"], pack["name"]) for pack in index["packs"]]
    keys = [(pack["name"], each["key"]) for pack in index["packs"] for each in pack["files"]]
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys)
    assert not any("/" in key for _, key in keys)


def test_a_copy_of_a_pack_that_left_the_rules_leaves_the_chart(tmp_path):
    pack = tmp_path / "rules" / "manufacturers" / "acme" / "pack.yaml"
    pack.parent.mkdir(parents=True)
    for folder in build.FOLDERS:
        (tmp_path / "rules" / folder).mkdir(exist_ok=True)
    pack.write_text("a: 1\n", "utf-8")
    build.write_packs(tmp_path, tmp_path / "rules")
    assert (tmp_path / "files/packs/manufacturers/acme/pack.yaml").is_file()
    pack.unlink()
    build.write_packs(tmp_path, tmp_path / "rules")
    assert not (tmp_path / "files/packs/manufacturers").exists()


def test_kueues_configuration_in_the_values_is_what_the_packs_come_to():
    values = (build.CHART / "values.yaml").read_text("utf-8")
    assert build.with_block(values, build.kueue_block()) == values, "run `make chart`"


def test_the_configuration_charges_every_way_to_ask_for_a_card():
    values = read((build.CHART / "values.yaml").read_text("utf-8"))
    configuration = read(values["kueue"]["managerConfig"]["controllerManagerConfigYaml"])
    rows = {row["input"]: row for row in configuration["resources"]["transformations"]}
    charged = "credits.gpustack.ai/nvidia"
    assert rows["nvidia.com/gpu"]["outputs"] == {charged: "1600000"}
    assert rows["nvidia.com/gpu.shared"]["outputs"] == {charged: "160000"}
    assert rows["nvidia.com/gpu.sliced.units"]["outputs"] == {charged: "1"}
    assert rows["nvidia.com/gpu.sliced.units"]["multiplyBy"] == "nvidia.com/gpu.sliced"
    assert "multiplyBy" not in rows["nvidia.com/gpu.partitioned.units"]
    assert {row["strategy"] for row in rows.values()} == {"Replace"}
    assert all(isinstance(amount, str) for row in rows.values() for amount in row["outputs"].values())


def test_the_kueue_that_is_packed_is_the_one_that_the_chart_and_the_image_name():
    (dependency,) = read((build.CHART / "Chart.yaml").read_text("utf-8"))["dependencies"]
    image = read((build.CHART / "values.yaml").read_text("utf-8"))["kueue"]["controllerManager"]["manager"]["image"]
    assert dependency["version"] == build.KUEUE_VERSION
    assert image["tag"] == f"v{build.KUEUE_VERSION}"


@pytest.fixture
def kueue(tmp_path):
    source = tmp_path / "kueue"
    (source / "templates" / "crd").mkdir(parents=True)
    (source / "tests").mkdir()
    (source / "tests" / "a_test.yaml").write_text("x", "utf-8")
    (source / "Chart.yaml").write_text("name: kueue\n", "utf-8")
    definition = "metadata:\n  annotations:\n    a: b\n  name: x\n"
    (source / "templates" / "crd" / "x.yaml").write_text(definition, "utf-8")
    return source


def test_kueues_archive_is_the_same_bytes_each_time_and_its_definitions_stay(kueue, tmp_path):
    first = build.pack_kueue(kueue, tmp_path).read_bytes()
    assert build.pack_kueue(kueue, tmp_path).read_bytes() == first
    with tarfile.open(fileobj=io.BytesIO(first)) as archive:
        assert archive.getnames() == ["kueue/Chart.yaml", "kueue/templates/crd/x.yaml"]
        kept = read(archive.extractfile("kueue/templates/crd/x.yaml").read().decode())
    assert kept["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep", "a": "b"}


def test_a_definition_of_kueues_that_looks_otherwise_stops_the_build(kueue, tmp_path):
    (kueue / "templates" / "crd" / "x.yaml").write_text("metadata: {name: x}\n", "utf-8")
    with pytest.raises(SystemExit, match="look at it anew"):
        build.pack_kueue(kueue, tmp_path)
