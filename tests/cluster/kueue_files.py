"""The files with which a run's Kueue is started: certificates, configuration, CRDs and webhooks."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import kueue
from tests.cluster.binaries import Binaries, read_yaml
from tests.cluster.certificates import AUTHORITY, Pki
from tests.cluster.errors import ClusterError
from tests.cluster.layout import SYSTEM_NAMESPACE, Folder


@dataclass(frozen=True, slots=True)
class KueueFiles:
    """Of one run."""

    folder: Folder
    pki: Pki
    binaries: Binaries

    @property
    def certificates(self) -> Path:
        return self.folder.pki / "kueue"

    def prepare(self, configuration: Path | None) -> None:
        """Certificates and configuration. Raises ClusterError."""
        self.certificates.mkdir(mode=0o700)
        shutil.copyfile(self.pki.certificate("webhooks"), self.certificates / "tls.crt")
        shutil.copy(self.pki.key("webhooks"), self.certificates / "tls.key")
        shutil.copyfile(self.pki.certificate(AUTHORITY), self.certificates / "ca.crt")
        self.configure(configuration)

    def configure(self, file: Path | None) -> None:
        """The configuration of a file, or the default. Raises ClusterError."""
        if file is None:
            # It is for a Kueue in the worker's namespace, and Kueue does not start where it would manage itself.
            chosen = kueue.shipped_configuration() | {"namespace": SYSTEM_NAMESPACE}
        else:
            documents = [each for each in read_yaml(file) if each.get("kind") == "Configuration"]
            if len(documents) != 1:
                raise ClusterError(f"{file} holds {len(documents)} documents of kind Configuration, wanted one")
            chosen = documents[0]
        made = kueue.process_configuration(chosen, self.certificates)
        self.folder.kueue_configuration.write_text(json.dumps(made, indent=1), "utf-8")

    def crds(self) -> list[dict[str, Any]]:
        """The largest first: it takes the API server longest.

        Shape: the stored version alone. The older one needs Kueue's conversion webhook to mean anything, and digesting its
        schemas would take the API server as long again.
        """
        listed = json.loads(self.binaries.kueue_crds.read_text("utf-8"))
        for each in listed:
            each["spec"]["versions"] = [version for version in each["spec"]["versions"] if version["storage"]]
        return sorted(listed, key=lambda each: len(json.dumps(each)), reverse=True)

    def webhooks(self) -> list[dict[str, Any]]:
        configuration = json.loads(self.folder.kueue_configuration.read_text("utf-8"))
        published = json.loads(self.binaries.kueue_webhooks.read_text("utf-8"))
        return kueue.local_webhooks(published, self.pki.bundle(), configuration)
