"""Random statements over `TABLES`, most of them admitted: aliases, CTEs, set operations, correlated
sub-queries, casts, aggregates, windows; many fail on some rows, which is what they are for."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

Columns = dict[str, str]
"""Written column to kind, as the query sees them."""

TABLES: dict[str, Columns] = {
    "accounts": {
        "account_id": "text",
        "customer_id": "text",
        "note": "text",
        "balance": "number",
        "small": "number",
        "as_of": "date",
    },
    "payments": {
        "payment_id": "number",
        "customer_id": "text",
        "account_id": "text",
        "memo": "text",
        "amount": "number",
        "paid_on": "date",
    },
    "days": {"day": "number", "label": "text"},
}


class Maker:
    """Makes statements from one source of chance."""

    def __init__(self, rng: Random, tables: Mapping[str, Columns] = TABLES) -> None:
        self.rng, self.tables = rng, tables
        self.names = 0

    def statement(self) -> str:
        """One statement."""
        self.names = 0
        rng = self.rng
        if rng.random() < 0.25:
            return self.with_cte()
        if rng.random() < 0.2:
            kind = rng.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
            return f"{self.one_column()} {kind} {self.one_column()} ORDER BY 1"
        return self.select(2)

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def table(self) -> tuple[str, Columns]:
        """A table with an alias, and its columns under it."""
        name = self.rng.choice(list(self.tables))
        alias = self.fresh("t")
        return f"{name} AS {alias}", {f"{alias}.{c}": k for c, k in self.tables[name].items()}

    def source(self, depth: int) -> tuple[str, Columns]:
        """What stands in FROM."""
        text, columns = self.table()
        if depth and self.rng.random() < 0.25:
            alias = self.fresh("s")
            inner = self.select(depth - 1, named=True)
            return f"({inner}) AS {alias}", {f"{alias}.a": "any", f"{alias}.b": "any"}
        if depth and self.rng.random() < 0.5:
            other, more = self.table()
            kind = self.rng.choice(["JOIN", "LEFT JOIN", "FULL JOIN", "CROSS JOIN", ","])
            both = {**columns, **more}
            on = "" if kind in ("CROSS JOIN", ",") else f" ON {self.condition(both, depth - 1)}"
            return f"{text} {kind} {other}{on}", both
        return text, columns

    def select(self, depth: int, *, named: bool = False, outer: Columns | None = None) -> str:
        rng = self.rng
        source, columns = self.source(depth)
        seen = {**columns, **(outer or {})}
        if rng.random() < 0.4:
            key = self.value(columns, 1)
            items = [f"{key} AS a", f"{self.aggregate(columns)} AS b"]
            tail = f" GROUP BY {key}"
            if rng.random() < 0.3:
                tail += f" HAVING {self.aggregate(columns)} IS NOT NULL"
        else:
            items = [f"{self.value(seen, 2)} AS a", f"{self.value(seen, 1)} AS b"]
            if rng.random() < 0.2:
                items[1] = (
                    f"sum({self.number(columns, 1)}) OVER (PARTITION BY {self.column(columns)}) AS b"
                )
            tail = ""
        where = f" WHERE {self.condition(seen, depth)}" if rng.random() < 0.7 else ""
        order = "" if named or rng.random() < 0.5 else " ORDER BY 1"
        limit = f" LIMIT {rng.randrange(1, 9)}" if rng.random() < 0.3 else ""
        if limit and not order:
            order = " ORDER BY 1, 2"
        return f"SELECT {', '.join(items)} FROM {source}{where}{tail}{order}{limit}"  # noqa: S608

    def one_column(self) -> str:
        source, columns = self.table()
        return f"SELECT CAST({self.value(columns, 1)} AS VARCHAR) FROM {source}"  # noqa: S608

    def with_cte(self) -> str:
        name = self.fresh("c")
        kind = self.rng.choice(["", "", "MATERIALIZED ", "NOT MATERIALIZED "])
        inner = self.select(1, named=True)
        columns = {f"{name}.a": "any", f"{name}.b": "any"}
        outer = f"SELECT {self.value(columns, 1)}, {self.aggregate(columns)} FROM {name}"  # noqa: S608
        return f"WITH {name} AS {kind}({inner}) {outer} GROUP BY 1 ORDER BY 1"

    def column(self, columns: Columns) -> str:
        return self.rng.choice(list(columns))

    def value(self, columns: Columns, depth: int) -> str:
        """An expression of any kind."""
        name = self.column(columns)
        kind = columns[name]
        pick = self.rng.randrange(8)
        if not depth or pick < 2:
            return name
        if pick == 2:
            return f"CAST({name} AS {self.rng.choice(['INTEGER', 'DATE', 'TINYINT', 'DOUBLE'])})"
        if pick == 3:
            return f"TRY_CAST({name} AS INTEGER)"
        if pick == 4:
            condition = self.condition(columns, 0)
            return f"CASE WHEN {condition} THEN {self.number(columns, depth - 1)} ELSE 0 END"
        if pick == 5 and kind == "text":
            return f"{self.rng.choice(['upper', 'length', 'trim'])}({name})"
        if pick == 6 and kind == "date":
            return f"date_trunc('month', {name})"
        return self.number(columns, depth - 1)

    def number(self, columns: Columns, depth: int) -> str:
        """An expression that is a number, if its casts succeed."""
        name = self.column(columns)
        if columns[name] != "number":
            name = f"CAST({name} AS BIGINT)" if columns[name] != "date" else f"year({name})"
        pick = self.rng.randrange(5)
        if not depth or pick == 0:
            return name
        if pick == 1:
            return f"({name} * {name})"
        if pick == 2:
            return f"(1000 // CAST({name} AS BIGINT))"
        if pick == 3:
            return f"CAST({name} * 1000 AS SMALLINT)"
        return f"({name} + {self.rng.randrange(100)})"

    def aggregate(self, columns: Columns) -> str:
        name = self.column(columns)
        pick = self.rng.randrange(6)
        if pick == 0:
            return "count(*)"
        if pick == 1:
            return f"count(DISTINCT {name})"
        if pick == 2:
            return f"{self.rng.choice(['min', 'max'])}({name})"
        if pick == 3:
            return f"sum({self.number(columns, 1)})"
        if pick == 4:
            return f"max(CAST({name} AS INTEGER)) FILTER (WHERE {name} IS NOT NULL)"
        return f"round(avg({self.number(columns, 0)}), 2)"

    def condition(self, columns: Columns, depth: int) -> str:
        """Something true or false."""
        rng = self.rng
        pick = rng.randrange(8)
        name = self.column(columns)
        if depth and pick == 0:
            return f"EXISTS ({self.select(0, named=True, outer=columns)})"
        if depth and pick == 1:
            inner, more = self.table()
            key = self.column(more)
            return (
                f"{name} IN (SELECT {key} FROM {inner} "  # noqa: S608 - a test's statement
                f"WHERE {self.condition({**more, **columns}, 0)})"
            )
        if depth and pick == 2:
            inner, more = self.table()
            return f"{self.number(columns, 1)} >= (SELECT {self.aggregate(more)} FROM {inner})"  # noqa: S608
        if pick == 3:
            return f"{name} IS NOT NULL"
        if pick == 4:
            return f"CAST({name} AS VARCHAR) LIKE '%{rng.randrange(10)}%'"
        if pick == 5:
            other = self.condition(columns, 0)
            return f"({self.number(columns, 1)} > {rng.randrange(50)} {rng.choice(['AND', 'OR'])} {other})"
        if pick == 6:
            return f"CAST({name} AS INTEGER) < {rng.randrange(200)}"
        return f"{self.number(columns, 1)} > {rng.randrange(100)}"
