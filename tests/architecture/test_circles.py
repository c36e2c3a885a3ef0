"""No module imports another in a circle, not even for types alone."""

from __future__ import annotations

import grimp
import networkx as nx


def test_imports_have_no_circles() -> None:
    graph = grimp.build_graph("app", "kb", exclude_type_checking_imports=False, cache_dir=None)
    imports = nx.DiGraph(
        (importer, imported)
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
    )
    assert [sorted(circle) for circle in nx.strongly_connected_components(imports) if len(circle) > 1] == []
