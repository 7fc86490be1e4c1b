-- A panel of Grafana (ClickHouse data source, time series) over the table of clickhouse.sql: counts by cell with a band of
-- two deviations.
select start as time, cell, value, value - 2 * deviation as low, value + 2 * deviation as high
from numbers final where statistic = 'count' and $__timeFilter(start) order by time, cell
