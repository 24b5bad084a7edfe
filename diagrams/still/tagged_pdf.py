"""Pages as one tagged PDF (ISO 32000, 14.7 and 14.8): each page is a figure with an alternative text.

A screen reader speaks this text in place of the drawing, and shows the title of the file in its window.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DecodedStreamObject,
    DictionaryObject,
    IndirectObject,
    NameObject,
    NumberObject,
    TextStringObject,
)

from diagrams.shapes.ownership import MADE_WITH, OWNERSHIP

LANGUAGE = "en"


def tagged(pages: Iterable[tuple[bytes, str]], title: str) -> bytes:
    """A PDF of pages, each given as a PDF of one page and its alternative text."""
    writer = PdfWriter()
    root = DictionaryObject()
    document = _element(writer, "Document", writer._add_object(root))
    figures = ArrayObject()
    for number, (page, description) in enumerate(pages):
        writer.append(PdfReader(BytesIO(page)))
        figure = _element(writer, "Figure", _reference(document))
        figure.update(_described(writer, writer.pages[number], number, description))
        figures.append(_reference(figure))
    document[NameObject("/K")] = figures
    root.update(_root(_reference(document), figures))
    writer.add_metadata({"/Title": title, "/Creator": MADE_WITH, "/Copyright": OWNERSHIP})
    writer.root_object.update(_catalog(_reference(root)))
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def _described(writer: PdfWriter, page: PageObject, number: int, description: str) -> DictionaryObject:
    """The entries of the element of a page. The drawing of the page becomes its content, number 0 of the page."""
    drawn = page.get_contents()
    content = DecodedStreamObject()
    content.set_data(b"/Figure <</MCID 0>> BDC\n" + (b"" if drawn is None else drawn.get_data()) + b"\nEMC")
    page[NameObject("/Contents")] = writer._add_object(content.flate_encode())
    page[NameObject("/StructParents")] = NumberObject(number)
    box = ArrayObject(NumberObject(round(side)) for side in page.mediabox)
    return DictionaryObject(
        {
            NameObject("/Alt"): TextStringObject(description),
            NameObject("/Pg"): _reference(page),
            NameObject("/K"): NumberObject(0),
            NameObject("/A"): DictionaryObject({NameObject("/O"): NameObject("/Layout"), NameObject("/BBox"): box}),
        }
    )


def _element(writer: PdfWriter, kind: str, parent: IndirectObject) -> DictionaryObject:
    """An element of the structure, without content."""
    entries = {NameObject("/Type"): NameObject("/StructElem"), NameObject("/S"): NameObject(f"/{kind}")}
    element = DictionaryObject({**entries, NameObject("/P"): parent})
    writer._add_object(element)
    return element


def _reference(part: DictionaryObject) -> IndirectObject:
    """The reference to a part that has been added to the file."""
    assert part.indirect_reference is not None
    return part.indirect_reference


def _root(document: IndirectObject, figures: ArrayObject) -> DictionaryObject:
    """The root of the structure. Its parent tree leads from the marked content of a page to its element."""
    leads = ArrayObject(
        part for number, figure in enumerate(figures) for part in (NumberObject(number), ArrayObject([figure]))
    )
    return DictionaryObject(
        {
            NameObject("/Type"): NameObject("/StructTreeRoot"),
            NameObject("/K"): ArrayObject([document]),
            NameObject("/ParentTree"): DictionaryObject({NameObject("/Nums"): leads}),
            NameObject("/ParentTreeNextKey"): NumberObject(len(figures)),
        }
    )


def _catalog(root: IndirectObject) -> DictionaryObject:
    """The entries of a catalog that mark the file as tagged."""
    return DictionaryObject(
        {
            NameObject("/StructTreeRoot"): root,
            NameObject("/MarkInfo"): DictionaryObject({NameObject("/Marked"): BooleanObject(True)}),
            NameObject("/Lang"): TextStringObject(LANGUAGE),
            NameObject("/ViewerPreferences"): DictionaryObject({NameObject("/DisplayDocTitle"): BooleanObject(True)}),
        }
    )
