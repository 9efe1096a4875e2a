-- The one clock of the database. Every statement reads time through lightspeed_now(), never now(),
-- so that tests can let a lease lapse without sleeping: they add to clock.skew.
-- In service the row stays at zero.
CREATE TABLE clock (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    skew interval NOT NULL DEFAULT '0'
);
INSERT INTO clock DEFAULT VALUES;

CREATE FUNCTION lightspeed_now() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN now() + (SELECT skew FROM clock);
