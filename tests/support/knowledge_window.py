"""The view of Knowledge in a window of the usual size, for tests of its parts."""

from __future__ import annotations

from typing import Any

from app.models.knowledge.knowledge_model import KnowledgeModel
from app.views.knowledge.knowledge_view import KnowledgeView


def shown_knowledge(
    qtbot: Any, client: Any, tasks: Any, center: Any, theme: Any
) -> tuple[KnowledgeModel, KnowledgeView]:
    """Return the model, which has not started yet, and its view, shown and active."""
    theme.set_reduced_motion(True)
    model = KnowledgeModel(client, tasks)
    view = KnowledgeView(model, center, theme)
    qtbot.addWidget(view)
    view.addActions(center.actions())
    center.set_place("knowledge")
    view.resize(1224, 740)
    view.show()
    view.activateWindow()
    return model, view
