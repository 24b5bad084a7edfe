"""Tables and documents are read back: equal to the event table, and to the scenario."""

from io import BytesIO

import pandas as pd

from sim.core.model import EVENT_TYPES
from sim.document.files import parse_toml
from sim.exchange.csv_cells import original
from tests.cases import each
from tests.diagrams.tools import exported, scene

NAMES = ["lecture", "hundred", "nasty", "two_banks"]
# Columns of whole numbers that may be null stay whole: pandas writes such types with a capital letter.
PANDAS = {name: kind.replace("int", "Int") for name, kind in EVENT_TYPES.items()}


def table(name: str) -> pd.DataFrame:
    return pd.DataFrame(scene(name).execution.table, columns=list(EVENT_TYPES)).astype(PANDAS)


@each("name", NAMES)
def test_csv_read_back_is_the_event_table(name):
    read = pd.read_csv(BytesIO(exported(name, "csv")), dtype=PANDAS, keep_default_na=False, na_values=[""])
    texts = [column for column, kind in PANDAS.items() if kind == "string"]
    read[texts] = read[texts].map(original, na_action="ignore").astype("string")  # no apostrophes before formulas
    pd.testing.assert_frame_equal(read, table(name))


@each("name", NAMES)
def test_json_lines_read_back_are_the_event_table(name):
    data = exported(name, "jsonl")
    read = pd.read_json(BytesIO(data), lines=True, dtype=PANDAS, convert_dates=False, precise_float=True)
    pd.testing.assert_frame_equal(read.astype(PANDAS), table(name))
    assert data.splitlines()[0].count(b'"') >= 2 * len(EVENT_TYPES)  # nulls are written too


@each("name", NAMES)
def test_parquet_has_the_declared_types_and_the_event_table(name):
    data = exported(name, "parquet")
    read = pd.read_parquet(BytesIO(data), dtype_backend="pyarrow")
    assert {column: str(kind) for column, kind in read.dtypes.items()} == {
        column: f"{kind.replace('float64', 'double')}[pyarrow]" for column, kind in EVENT_TYPES.items()
    }
    pd.testing.assert_frame_equal(read.astype(PANDAS), table(name))


@each("form", ["csv", "jsonl", "parquet", "shiviz", "toml"])
def test_tables_and_documents_are_of_the_whole_run_whatever_the_step(form):
    assert exported("lecture", form, step=0) == exported("lecture", form)


@each("name", NAMES)
def test_toml_read_back_is_the_scenario(name):
    assert parse_toml(exported(name, "toml").decode("utf-8"), name) == scene(name).execution.scenario
