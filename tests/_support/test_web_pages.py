"""Test the web pages that nbconvert makes with the launcher's settings."""

from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

from bdl_teach._cli import after_install
from bdl_teach._support.web_pages import Pictures


def picture(words: str, **metadata: object) -> Any:
    data = {"image/png": "UE5H", "text/plain": "A repr."}
    output = nbformat.v4.new_output("display_data", data=data)
    output.metadata = nbformat.from_dict({"image/png": {"alt": words}})
    return nbformat.v4.new_code_cell("show", outputs=[output], metadata=metadata)


def test_web_page_has_alt_texts_and_says_which_pictures_are_stills() -> None:
    cells = [picture('A "plot".'), picture("An explorer.", tags=["explorer"])]
    exporter = HTMLExporter(config=Config(after_install.PAGES))
    page, _ = exporter.from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    assert '<img alt=\'A "plot".\' src="data:image/png;base64,UE5H"/>' in page
    assert "No description" not in page and "A repr." not in page
    still = page.partition('alt="An explorer."')[2]
    assert page.count("A still picture") == still.count("A still picture") == 1


def test_drawing_goes_before_its_png() -> None:
    data = {"image/png": "UE5H", "image/svg+xml": "<svg/>", "text/plain": "A repr."}
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", data)])
    changed, _ = Pictures().preprocess_cell(cell, {}, 0)
    page = changed.outputs[0].data["text/html"]
    assert "data:image/svg+xml;base64,PHN2Zy8+" in page and "UE5H" not in page
