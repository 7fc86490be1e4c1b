-- Counts and sums of values by cell and hour, and of all cells together, with the deviations of their noise, in DuckDB:
-- what `oriel numbers --every 1h --total --statistic count,sum` prints. It wants ORIEL_INCREMENTS=true and the steps of
-- an hour in one piece, as they are where timestamps rise.
--
--     oriel tail --topic delays.descriptor --raw --follow=false > names.json
--     oriel tail --topic delays.decisions --raw --follow=false > decisions.json
--     duckdb < hours.sql
set variable every = 3600000;  -- ms
create macro between_windows(t, lg, low) as exp((low + 1 - lg) * ln(t[low + 1]) + (lg - low) * ln(t[low + 2]));
create macro deviation(t, lg) as case when lg < len(t) - 1 then between_windows(t, lg, least(floor(lg), len(t) - 2)::int)
    else t[len(t)] * sqrt(pow(2, lg - len(t) + 1)) end;

create table names as select * from read_json('names.json', format = 'newline_delimited', columns = {
    cells: 'VARCHAR[]', increment_deviations: 'DOUBLE[]', emit_every: 'BIGINT', value: 'STRUCT(low DOUBLE, high DOUBLE)'});
create table decisions as select * from read_json('decisions.json', format = 'newline_delimited', columns = {
    stream: 'VARCHAR', incarnation: 'VARCHAR', time: 'BIGINT', increments: 'DOUBLE[]', window_deviation: 'DOUBLE[]'});
create table parts as select time // getvariable('every') as k, count(*) * any_value(emit_every) as steps,
    deviation(any_value(window_deviation), log2(steps)) as noise
    from decisions, names group by k, stream, incarnation;
create table noises as select k, sum(noise * noise) as variance from parts group by k;
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
