-- Numbers of steps by the clock (ORIEL_STEP) in ClickHouse: a Kafka table reads the topic of decisions, and a
-- materialised view makes a row of each number. ClickHouse reads committed records alone, so no row can be withdrawn.
--
--     oriel tail --topic hourly.descriptor --raw --follow=false > names.json
--     clickhouse client --multiquery < clickhouse.sql
--     clickhouse client --query 'insert into names format JSONEachRow' < names.json
create table names (cells Array(String), statistics Array(String)) engine = MergeTree order by tuple();
create table numbers (start DateTime('UTC'), cell String, statistic String, value Float64, deviation Nullable(Float64))
    engine = ReplacingMergeTree order by (statistic, cell, start);
create table decisions (time Int64, seconds Int64, decision Array(Float64), count_deviation Array(Float64),
    sum_deviation Array(Float64)) engine = Kafka settings kafka_broker_list = 'localhost:9092',
    kafka_topic_list = 'hourly.decisions', kafka_group_name = 'clickhouse', kafka_format = 'JSONEachRow';
create materialized view numbers_of_decisions to numbers as
select toDateTime(intDiv(time, 1000) - seconds, 'UTC') as start, cells[(i - 1) % length(cells) + 1] as cell,
    statistics[intDiv(i - 1, length(cells)) + 1] as statistic, value,
    multiIf(statistic in ('count', 'persons'), count_deviation[1], statistic = 'sum', sum_deviation[1], null) as deviation
from decisions array join decision as value, arrayEnumerate(decision) as i cross join names;
