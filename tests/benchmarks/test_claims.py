"""A claim is kept by its middle value; a run of claims tells which are not."""

from collections.abc import Iterator

import pytest

from benchmarks import run
from benchmarks.claim import Claim, ratios


def test_the_middle_value_is_held_against_the_floor() -> None:
    assert Claim("pages", [1.0, 2.0, 9.0], "a second", 2.0).is_kept
    assert not Claim("pages", [1.0, 1.9, 9.0], "a second", 2.0).is_kept
    assert Claim("pages", [0.1]).is_kept


def test_ratios_are_those_of_each_round() -> None:
    assert ratios([4.0, 9.0], [2.0, 3.0]) == [2.0, 3.0]
    with pytest.raises(ValueError, match="argument 2"):
        ratios([1.0], [1.0, 2.0])


@pytest.mark.parametrize(("values", "code"), [([3.0], 0), ([1.0], 1), ([3.0, 1.0], 1), ([], 1)])
def test_a_check_fails_if_a_claim_is_under_its_floor_or_nothing_is_claimed(
    values: list[float],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def checked() -> Iterator[Claim]:
        yield from (Claim("times a rival", [value], "", 2.0) for value in values)

    group = run.GROUPS["urls"]._replace(checked=checked)
    monkeypatch.setattr(run, "GROUPS", {"urls": group})
    monkeypatch.setattr("sys.argv", ["run", "--check"])
    assert run.main() == code
    assert ("UNDER ITS FLOOR" in capsys.readouterr().out) == (1.0 in values)


def test_a_group_is_a_table_with_the_spread_of_its_rounds() -> None:
    table = run.table("urls", "URLs", [Claim("scored", [3.0, 1.0, 2.0], "a second", 1.5)])
    assert table["rows"] == [["scored", 2.0, 1.0, 3.0, "a second", 1.5]]
