-- Since when an endpoint has its address: a vendor that says since when an address is dead may mean a registration before this
-- one. NULL: unknown, it is older than this column.
ALTER TABLE notification_endpoint ADD COLUMN registered_at INTEGER;
