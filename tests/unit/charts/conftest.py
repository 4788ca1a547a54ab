"""A chart for all tests of this folder; they are skipped with a line where Helm's package is not installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.charts.chart import NAMESPACE, OWN, Rendered, whole

Render = Callable[..., Rendered]


@pytest.fixture(scope="session")
def helm():
    return pytest.importorskip("helm_python", reason="helm-python-sdk is not installed: no rendering of the chart")


@pytest.fixture(scope="session")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole(tmp_path_factory.mktemp("chart"))


@pytest.fixture(scope="session")
def loaded(helm: Any, chart: Path) -> Iterator[Any]:
    with helm.Chart.load(chart) as opened:
        yield opened


@pytest.fixture(scope="session")
def render(loaded: Any) -> Render:
    def rendered(values: dict[str, Any] | None = None, namespace: str = NAMESPACE) -> Rendered:
        return Rendered(loaded.render({**OWN, **(values or {})}, name="engine", namespace=namespace))

    return rendered


@pytest.fixture(scope="session")
def default(render: Render) -> Rendered:
    return render()
