"""The table in which all points stand side by side, the best of each metric highlighted."""

from collections.abc import Sequence
from html import escape

from streamjoin.report.metrics import METRICS, Metric
from streamjoin.report.naming import upper

#: Stands beside every figure that rests on an estimated clock.
MARK = '<span class="estimate" title="from logic delays, without routing">estimate</span>'


def table(rows: Sequence[dict], metrics: Sequence[Metric]) -> str:
    on_targets = len({row["target"] for row in rows}) > 1
    heads = ['<th scope="col" class="text"><span>Point</span></th>']
    heads += ['<th scope="col" class="text"><span>Target</span></th>'] if on_targets else []
    heads += [
        f'<th scope="col" data-metric="{metric.name}" data-better="{metric.better}" '
        f'title="{metric.better} is better"><span>{escape(upper(metric.label))}</span> <small>{escape(metric.unit)} '
        f"{'▲' if metric.better == 'higher' else '▼'}</small></th>"
        for metric in metrics
    ]
    heads.append('<th scope="col" class="text"><span>Check</span></th>')
    best = {metric.name: metric.best(rows) for metric in metrics}
    lines = []
    for number, row in enumerate(rows):
        design, _, rest = row["label"].partition(", ")
        cells = [f'<th scope="row">{escape(design)} <small>{escape(rest)}</small></th>']
        cells += [f'<td class="text">{escape(row["target"] or "")}</td>'] if on_targets else []
        cells += [_cell(metric, row, number in best[metric.name]) for metric in metrics]
        lines.append(f"<tr>{''.join(cells)}{_verdict(row)}</tr>")
    return f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody>"


def _cell(metric: Metric, row: dict, is_best: bool) -> str:
    value = metric.of(row)
    if value is None:
        return '<td class="none" data-value="">–</td>'
    estimate = f" {MARK}" if metric.is_estimate(row) else ""
    kind = ' class="best"' if is_best else ""
    return f'<td{kind} data-value="{value:.10g}">{metric.text(value)}{estimate}</td>'


def _verdict(row: dict) -> str:
    if row["failures"]:
        words = "; ".join(dict.fromkeys(failure["kind"] for failure in row["failures"]))
        sentences = " ".join(failure["sentence"] for failure in row["failures"])
        return f'<td class="text bad" title="{escape(sentences)}">{escape(words)}</td>'
    return '<td class="text">exact</td>'


def table_words(rows: Sequence[dict]) -> str:
    words = (
        "Every metric knows which way is better: ▲ higher, ▼ lower. The best value of each is highlighted"
        + (", for figures of the hardware among points on the same target" if any(r["target"] for r in rows) else "")
        + ". Throughput and input are those at the lowest match rate, latencies at the lowest with results enough; "
        "the share of the limit is the smallest over all match rates. Click a heading to sort."
    )
    if any(METRICS["fmax"].is_estimate(row) for row in rows):
        words += f" Figures marked {MARK} rest on a clock from logic delays, without routing."
    return words
