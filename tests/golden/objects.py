"""The walkthrough's objects as manifests, a file a kind, and the way to write them anew.

`python -m tests.golden.objects` rewrites the golden files; look at the difference before keeping it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from engine.chain.chain import Chain
from engine.worker.render.clusterqueue import cluster_queue
from engine.worker.render.devices import devices
from engine.worker.render.instancetype import instance_type
from engine.worker.render.instancetypeflavor import instance_type_flavor
from engine.worker.render.localqueue import local_queue
from engine.worker.render.node import node
from engine.worker.render.nodefeature import device_manager_node_feature, host_node_feature, worker_node_feature
from engine.worker.render.resourceflavor import resource_flavor
from engine.worker.render.topology import topology

FOLDER = Path(__file__).parent / "walkthrough"


def files(chain: Chain) -> dict[str, list[dict[str, Any]]]:
    """Manifests by file name, in the chain's order."""
    plans = chain.nodes()
    features = (worker_node_feature, device_manager_node_feature, host_node_feature)
    return {
        "nodes.yaml": [node(each) for each in plans],
        "nodefeatures.yaml": [made for each in plans for feature in features if (made := feature(each)) is not None],
        "devices.yaml": [made for each in plans if (made := devices(each)) is not None],
        "resourceflavors.yaml": [resource_flavor(each, chain.note_prefix) for each in chain.flavors()],
        "topologies.yaml": [topology(each) for each in chain.topologies()],
        "clusterqueues.yaml": [cluster_queue(each) for each in chain.queues()],
        "localqueues.yaml": [local_queue(each) for each in chain.local_queues()],
        "instancetypes.yaml": [instance_type(each) for each in chain.types()],
        "instancetypeflavors.yaml": [instance_type_flavor(each) for each in chain.catalogue()],
    }


def read(name: str) -> list[dict[str, Any]]:
    """The manifests of a golden file."""
    return list(YAML(typ="safe").load_all((FOLDER / name).read_text(encoding="utf-8")))


def write(name: str, objects: list[dict[str, Any]]) -> None:
    """Write a golden file."""
    yaml = YAML()
    yaml.width = 200
    yaml.default_flow_style = False
    with (FOLDER / name).open("w", encoding="utf-8") as file:
        yaml.dump_all(objects, file)


if __name__ == "__main__":
    from tests.unit.chain.shipped import cluster, program

    made = Chain(program())
    made.apply(cluster())
    for name, objects in files(made).items():
        write(name, objects)
