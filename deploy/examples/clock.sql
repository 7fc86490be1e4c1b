-- Counts and sums of steps by the clock (ORIEL_STEP), and of each day or other interval of whole steps, with the
-- deviations of their noise, in DuckDB. `oriel numbers` has the exact intervals besides.
--
--     oriel tail --topic hourly.descriptor --raw --follow=false > names.json
--     oriel tail --topic hourly.decisions --raw --from-beginning --follow=false > decisions.json
--     duckdb < clock.sql
set variable every = 86400000;  -- ms
create table names as select cells, statistics from read_json('names.json', format = 'newline_delimited',
    columns = {cells: 'VARCHAR[]', statistics: 'VARCHAR[]'});
create table decisions as select * from read_json('decisions.json', format = 'newline_delimited', columns = {
    time: 'BIGINT', seconds: 'BIGINT', decision: 'DOUBLE[]', count_deviation: 'DOUBLE[]', sum_deviation: 'DOUBLE[]'});
-- A decision has the end of its step as time, and the numbers of all cells for each statistic.
create view steps as select time - 1000 * seconds as start, statistics[i // len(cells) + 1] as statistic,
    cells[i % len(cells) + 1] as cell, decision[i + 1] as value,
    if(statistic = 'count', count_deviation[1], sum_deviation[1]) as deviation
    from decisions, names, unnest(range(len(decision))) as r(i);
select strftime(make_timestamp(start // getvariable('every') * getvariable('every') * 1000), '%Y-%m-%dT%H:%M:%SZ') as begin,
    cell, statistic, sum(value) as value, sqrt(sum(deviation * deviation)) as deviation, count(*) as steps
    from steps where statistic in ('count', 'sum') group by all order by all;
