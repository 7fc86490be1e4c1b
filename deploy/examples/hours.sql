-- Counts and sums of values by cell and hour, and of all cells together, with the deviations of their noise, in DuckDB:
-- what `oriel numbers --every 1h --total --statistic count,sum` prints. It wants ORIEL_INCREMENTS=true, decisions that
-- publish increment_filter, and the steps of an hour in one piece, as they are where timestamps rise.
--
--     oriel tail --topic delays.descriptor --raw --follow=false > names.json
--     oriel tail --topic delays.decisions --raw --follow=false > decisions.json
--     duckdb < hours.sql
set variable every = 3600000;  -- ms
create macro series(p, n) as (1 - pow(p, n)) / (1 - p);
-- the sum of (level + y·q^j)^2 over j < n
create macro energy(level, y, q, n) as level * level * n
    + 2 * level * list_sum([y[i] * series(q[i], n) for i in range(1, len(q) + 1)])
    + list_sum([list_sum([y[i] * y[j] * series(q[i] * q[j], n) for j in range(1, len(q) + 1)]) for i in range(1, len(q) + 1)]);

create table names as select * from read_json('names.json', format = 'newline_delimited', columns = {
    cells: 'VARCHAR[]', increment_deviations: 'DOUBLE[]', emit_every: 'BIGINT', value: 'STRUCT(low DOUBLE, high DOUBLE)'});
create table decisions as select * from read_json('decisions.json', format = 'newline_delimited', columns = {
    stream: 'VARCHAR', incarnation: 'VARCHAR', step: 'BIGINT', time: 'BIGINT', increments: 'DOUBLE[]',
    window_deviation: 'DOUBLE[]', increment_filter: 'DOUBLE[]'});
-- The steps (a, b] of an hour: their increments hold draws of noise of their block, by increment_filter.
create table parts as select time // getvariable('every') as k, min(step) - any_value(emit_every) as a, max(step) as b,
    any_value(window_deviation[1]) as one, any_value(increment_filter) as f, f[1]::bigint as period, len(f) // 2 as m,
    [x / 1073741824 for x in f[2:m + 1]] as q, [x / 1073741824 for x in f[m + 2:]] as r,
    [r[i] / (1 - q[i]) for i in range(1, m + 1)] as x, 1 - list_sum(x) as level
    from decisions, names group by k, stream, incarnation;
create table pieces as select *, block * period as start, greatest(a, start) as low, least(b, start + period) - low as n
    from parts, lateral (select unnest(range(a // period, (b - 1) // period + 1)) as block);
create table noises as select k, sum(one * one * (energy(level, x, q, n)
    + energy(0, [x[i] * (pow(q[i], n) - 1) for i in range(1, m + 1)], q, low - start))
    / (1 + list_sum([list_sum([r[i] * r[j] / (1 - q[i] * q[j]) for j in range(1, m + 1)]) for i in range(1, m + 1)])))
    as variance from pieces group by k;
create table sums as select time // getvariable('every') as k, cells[i] as cell, sum(increments[i]) as n,
    sum(increments[len(cells) + i]) as x
    from decisions, names, unnest(range(1, len(cells) + 1)) as r(i) group by k, cell;
create table grouped as select k, coalesce(cell, 'all') as cell, count(*) as many, sum(n) as n, sum(x) as x
    from sums group by grouping sets ((k, cell), (k));

select strftime(make_timestamp(k * getvariable('every') * 1000), '%Y-%m-%dT%H:%M:%SZ') as start, cell, n as count,
    sqrt(variance * many) * increment_deviations[1] as count_deviation,
    (value.high + value.low) / 2 * n + (value.high - value.low) / 2 * x as sum,
    sqrt(variance * many) * sqrt(pow((value.high + value.low) / 2 * increment_deviations[1], 2) +
        pow((value.high - value.low) / 2 * increment_deviations[2], 2)) as sum_deviation
    from grouped join noises using (k), names order by k, cell;
