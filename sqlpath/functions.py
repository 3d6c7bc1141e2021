"""What a query may call, cast to and sort by: closed lists; a name that is not here is refused.

Left out on purpose: what reads settings, files, catalogs or the session, what waits or writes,
what differs from call to call, what runs text as SQL, and what makes text or lists of any size
(`repeat`, `range`, `lpad`). `generate_series` makes dates for reports; its size is bounded by the
address space of the process that runs it.
"""

from __future__ import annotations

from typing import Final

OPERATORS: Final = frozenset("+ - * / // % ** ^ || & | ~ << >> ~~ !~~ ~~* !~~* ~~~ ->>".split())

SCALARS: Final = frozenset(
    """
    abs ceil ceiling floor round trunc sign sqrt cbrt exp ln log log10 log2 pow power mod greatest
    least pi degrees radians sin cos tan asin acos atan atan2 gcd lcm isnan isinf isfinite fdiv fmod
    divide multiply add subtract even factorial
    lower upper lcase ucase length len char_length character_length strlen trim ltrim rtrim substr
    substring left right replace reverse concat concat_ws starts_with ends_with prefix suffix contains
    instr strpos position split_part like_escape ilike_escape not_like_escape not_ilike_escape
    regexp_matches regexp_full_match regexp_replace regexp_extract ascii chr translate initcap
    levenshtein jaccard jaro_winkler_similarity strip_accents string_split str_split split
    array_to_string list_value unnest struct_pack row array_extract list_extract list_contains
    date_trunc datetrunc date_part datepart date_diff datediff date_sub datesub date_add age
    make_date make_timestamp year month day hour minute second quarter week weekday dayofweek
    dayofyear dayofmonth isodow isoyear weekofyear yearweek dayname monthname last_day epoch epoch_ms
    century decade strftime strptime try_strptime to_timestamp timezone time_bucket
    to_years to_quarters to_months to_weeks to_days to_hours to_minutes to_seconds to_milliseconds
    generate_series
    coalesce ifnull nullif if
    """.split()
)

AGGREGATES: Final = frozenset(
    """
    count count_star sum avg mean min max median mode stddev stddev_samp stddev_pop variance var_samp
    var_pop quantile quantile_cont quantile_disc approx_quantile approx_count_distinct bool_and bool_or
    count_if countif string_agg group_concat listagg list array_agg first last any_value arg_min
    arg_max min_by max_by argmin argmax product corr covar_pop covar_samp regr_slope regr_intercept
    regr_r2 regr_count skewness kurtosis fsum kahan_sum favg histogram
    """.split()
)

WINDOWS: Final = frozenset(
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value "
    "nth_value rank_dense fill".split()
)

CALLED: Final = OPERATORS | SCALARS | AGGREGATES
WINDOWED: Final = AGGREGATES | WINDOWS

TYPES: Final = frozenset(
    """
    boolean bool tinyint smallint int2 integer int int4 bigint int8 long hugeint utinyint usmallint
    uinteger ubigint float float4 real double float8 decimal numeric varchar text string char bpchar
    date time timestamp datetime timestamptz interval list
    """.split()
) | {"timestamp with time zone", "double precision"}

COLLATIONS: Final = frozenset({"nocase", "noaccent", "nfc", "binary", "c", "posix"})

CLOCK_COLUMNS: Final = frozenset({"current_date", "current_timestamp", "localtimestamp"})
"""Names that read the clock where no column bears them."""

CLOCK: Final = frozenset({"now", "today", "transaction_timestamp"}) | CLOCK_COLUMNS
"""Calls without arguments that read the clock; scope replaces both kinds by the asking's time."""

SESSION: Final = frozenset(
    {
        *("current_catalog", "current_database", "current_role", "current_schema", "current_time"),
        *("current_user", "localtime", "session_user", "user"),
    }
)
"""Names that the engine reads as calls where no column bears them."""
