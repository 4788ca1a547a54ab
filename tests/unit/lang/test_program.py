"""The compiled program: out of the process as JSON and back, digests, lazies, late messages."""

import json
import subprocess
import sys

import pytest

from engine.errors import ContractError, InputError
from engine.lang import ir
from engine.lang.combine import fill_defaults
from engine.lang.outcome import OutcomeKind
from engine.lang.parser import parse
from engine.lang.program import LinkedPack, Program
from tests.unit.lang.small import item, program

EVERYTHING = """\
    pick:
      let:
        big: item.count > `10`
      rules:
        - id: pick-unknown
          when: item.name == 'unreadable'
          unknown: cannot read $(item.name)
        - when: big
          let: {twice: 'mul(item.count, `2`)'}
          rules:
            - id: pick-part
              forEach: {in: item.parts, as: part, index: i}
              emit: {label: "$(i): $(part.id)"}
            - id: pick-big
              emit: {label: $(twice), grade: b}
    labels:
      owns: ["*"]
      rules:
        - id: labels-it
          emit:
            $(const.prefix)$(item.name): "true"
            kind?: $(item.kind)
    rows:
      - id: rows-it
        emit: {id: x}
    refusals:
      - id: refuse-it
        emit: {refuse: X}
        message: no $(item.name)
    late:
      - id: late-it
        emit: {name: n1}
        message: {exhausted: "$(default(answer.free, `0`)) free", foreign: not ours}
"""


def test_a_program_written_as_json_and_read_back_is_the_same_program():
    made = program(EVERYTHING)
    again = Program.from_json(made.to_json(), vocabulary="1.3")
    assert again.to_json() == made.to_json()
    assert again.digest == made.digest
    for given in (
        item(),
        item(count=20),
        item(count=20, parts=[{"id": "a"}]),
        item(name="unreadable"),
        item(kind="big"),
    ):
        for section in ("pick", "labels", "rows", "refusals", "late"):
            assert again.evaluate(section, given) == made.evaluate(section, given)


def test_the_digest_is_over_meaning_and_not_over_positions():
    shifted = "    # a comment that moves every line\n" + EVERYTHING
    assert program(shifted).digest == program(EVERYTHING).digest
    assert program(shifted).to_json() != program(EVERYTHING).to_json()
    assert program(EVERYTHING.replace("> `10`", "> `11`")).digest != program(EVERYTHING).digest


def test_a_program_that_was_changed_is_refused():
    text = program(EVERYTHING).to_json()
    with pytest.raises(InputError, match="was changed after it was made"):
        Program.from_json(text.replace("cannot read ", "can read "))


def test_a_program_of_another_major_vocabulary_is_refused():
    with pytest.raises(InputError, match=r"speaks vocabulary 1\.0"):
        Program.from_json(program(EVERYTHING).to_json(), vocabulary="2.0")


@pytest.mark.parametrize("text", ["", "[]", "{}", "not json", '{"vocabulary": "1.0", "packs": 3}', "[" * 100_000])
def test_what_is_no_program_is_refused(text):
    with pytest.raises(InputError, match="no compiled program"):
        Program.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        lambda pack: pack.update(language="other/v2"),
        lambda pack: pack.pop("blocks"),
        lambda pack: pack["sections"].update(bad={"select": "most"}),
        lambda pack: pack["sections"]["rows"].pop("rules"),
        lambda pack: pack["sections"]["rows"]["rules"][0].update(emit=["poem", "x"]),
        lambda pack: pack["sections"]["rows"]["rules"][0].update(when=["field"]),
    ],
)
def test_a_compiled_pack_with_a_hole_in_it_is_refused(change):
    data = json.loads(program(EVERYTHING).to_json())
    change(next(pack for pack in data["packs"] if pack["pack"]["name"] == "p0"))
    with pytest.raises(InputError):
        Program.from_json(json.dumps(data))


def test_a_compiled_program_loads_without_reader_model_or_oracle(tmp_path):
    path = tmp_path / "program.json"
    path.write_text(program(EVERYTHING).to_json(), encoding="utf-8")
    code = (
        "import sys\nfrom engine.lang import Program\n"
        f"made = Program.from_json(open({str(path)!r}).read())\n"
        f"made.evaluate('pick', {item()!r})\n"
        "bad = {'pydantic', 'ruamel', 'jsonschema', 'jmespath'} & {name.split('.')[0] for name in sys.modules}\n"
        "sys.exit(f'imported {sorted(bad)}' if bad else 0)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr


def test_blocks_are_found_by_maker_or_in_the_one_derivation_that_has_them():
    made = program(EVERYTHING)
    assert made.block("constants") == {"prefix": "example.com/", "unit": 100}
    assert made.block("tiers") is None
    assert made.block("identity", maker="nobody") is None
    assert made.makers == ()


def _with_derived(card, alloc=()):
    lets = {
        "card": tuple(ir.Let(name, parse(text)) for name, text in card),
        "alloc": tuple(ir.Let(name, parse(text)) for name, text in alloc),
    }
    return Program(
        [LinkedPack("Manufacturer", "acme", "1.0.0", {}, {"identity": {"manufacturer": "acme"}}, lets)],
        vocabulary="1.0",
    )


def test_derived_values_are_computed_when_read_and_see_those_above_them():
    made = _with_derived(
        [
            ("half", "floor_div(card.cores, `2`)"),
            ("quarter", "floor_div(half, `2`)"),
            ("broken", "floor_div(`1`, `0`)"),
        ],
        [("count", "length(alloc.cards)")],
    )
    alloc = made.with_derived("acme", {"cards": [{"cores": 8}, {"cores": 20}]})
    assert [card["derived"].get("quarter") for card in alloc["cards"]] == [2, 5]
    assert alloc["derived"]["count"] == 2
    assert alloc["cards"][0]["derived"].get("nope", "other") == "other"
    assert "half" in alloc["derived"] or "half" in alloc["cards"][0]["derived"]
    assert made.block("identity", maker="acme") == {"manufacturer": "acme"}


def test_derived_values_of_a_maker_without_a_pack_are_a_broken_contract():
    with pytest.raises(ContractError):
        _with_derived([]).with_derived("nobody", {"cards": []})


def test_a_late_message_of_what_a_section_never_gave_is_a_broken_contract():
    made = program(EVERYTHING)
    with pytest.raises(ContractError):
        made.message("late", "late-it", {"name": "n1"}, {"state": "exhausted"})
    made.evaluate("late", item())
    with pytest.raises(ContractError):
        made.message("late", "late-it", {"name": "n1"}, {"state": "exhausted"})


def test_a_section_that_a_maker_lacks_answers_nothing():
    assert _with_derived([]).evaluate("rows", item(), "acme").kind is OutcomeKind.NOTHING


def test_defaults_are_filled_in_at_every_depth_without_changing_what_was_given():
    filler = ir.Filler(
        (("mode", "rw"), ("tags", [])),
        (("rows", ir.Filler(element=ir.Filler((("n", 1),)))), ("one", ir.Filler((("deep", True),)))),
    )
    rows = [{"n": 2}, {}]
    made = fill_defaults({"rows": rows, "one": {}}, filler)
    assert made == {"rows": [{"n": 2}, {"n": 1}], "one": {"deep": True}, "mode": "rw", "tags": []}
    assert rows == [{"n": 2}, {}]
    assert fill_defaults([{}], ir.Filler(element=ir.Filler((("n", 1),)))) == [{"n": 1}]
    assert fill_defaults({"one": "text"}, filler)["one"] == "text"
