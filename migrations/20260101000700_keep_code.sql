-- The compiled code of a judging, for those who may read its source. A table of its own, so that boards,
-- lists and reports never read it. Text that the server compresses; written in the report's statement,
-- and gone with its judging.
CREATE TABLE judging_code (
    judging_id uuid PRIMARY KEY REFERENCES judgings ON DELETE CASCADE,
    listing text NOT NULL CHECK (octet_length(listing) <= 8388608)
);
CREATE TRIGGER judging_code_final BEFORE UPDATE ON judging_code
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
