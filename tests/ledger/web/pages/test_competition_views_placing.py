"""The picture of a ranking: what is where, and what a liar cannot do to it."""

from __future__ import annotations

from tequio_ledger.web.pages.competition_charts import EntrantScores, EvaluatorScore, ranking_chart


def placed(
    name: str, rank: int, value: float, *scores: EvaluatorScore, width: float = 0.01
) -> EntrantScores:
    interval = (value - width, value + width)
    return EntrantScores(name=name, rank=rank, value=value, interval=interval, scores=scores)


def word(value: float, *, is_outlier: bool = False) -> EvaluatorScore:
    return EvaluatorScore(evaluator="k" * 43, value=value, is_outlier=is_outlier)


def test_better_is_left_and_the_bar_holds_its_interval() -> None:
    picture = ranking_chart([placed("one", 1, 0.9), placed("other", 2, 1.1)])
    assert picture is not None
    assert [one.size.kind for one in picture.layouts] == ["wide", "narrow"]
    for layout in picture.layouts:
        first, second = layout.rows
        assert layout.size.left <= first.left < first.x < first.left + first.width < second.x
        assert second.left + second.width <= layout.size.right
        assert first.y < second.y < layout.base
        assert (first.is_first, second.is_first) == (True, False)
    assert picture.summary.startswith(
        "one: rank 1, 0.9000 bits per byte (byte perplexity 1.8661), 95 % between 0.8900"
    )
    assert [row.perplexity for row in picture.layouts[0].rows] == ["1.8661", "2.1435"]
    assert all(row.perplexity_y < row.y - 10 for row in picture.layouts[1].rows), "above the bar"


def test_a_liar_stands_at_the_edge_and_does_not_stretch_the_scale() -> None:
    honest = ranking_chart([placed("one", 1, 0.9, word(0.9)), placed("other", 2, 1.1)])
    liars = ranking_chart(
        [placed("one", 1, 0.9, word(0.9), word(40.0, is_outlier=True)), placed("other", 2, 1.1)]
    )
    assert honest is not None
    assert liars is not None
    for one, other in zip(honest.layouts, liars.layouts, strict=True):
        assert one.ticks == other.ticks
        calm, odd = other.rows[0].spots
        assert (calm.is_outlier, odd.is_outlier) == (False, True)
        assert odd.x == other.size.right
        assert "got 40.0000 bits per byte (byte perplexity 1.1e+12)" in odd.caption
        assert odd.caption.endswith("further off than honest computers can be, off the scale")


def test_who_shares_a_rank_stands_on_one_ground() -> None:
    ranks = (("a", 1, 0.9), ("b", 1, 0.91), ("c", 3, 1.0), ("d", 4, 1.1), ("e", 4, 1.11))
    picture = ranking_chart([placed(*one) for one in ranks])
    assert picture is not None
    first, last = picture.layouts[0].bands
    rows = picture.layouts[0].rows
    assert first.y < rows[0].y < rows[1].y < first.y + first.height < rows[2].y
    assert rows[2].y < last.y < rows[3].y < rows[4].y < last.y + last.height


def test_one_alone_without_an_interval_has_a_place_and_no_bar() -> None:
    alone = EntrantScores(name="one", rank=0, value=1.0, interval=None, scores=())
    picture = ranking_chart([alone])
    assert picture is not None
    (row,) = picture.layouts[0].rows
    assert (row.width, row.rank) == (0.0, "")
    assert picture.layouts[0].size.left <= row.x <= picture.layouts[0].size.right
    assert picture.layouts[0].bands == ()
    assert ranking_chart([]) is None
