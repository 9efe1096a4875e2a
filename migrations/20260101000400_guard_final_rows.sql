-- What is final stays as it is, whatever the code does: a done judging, an ended attempt, an event.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% % is final', TG_TABLE_NAME, to_jsonb(OLD) -> 'id'
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER judgings_final BEFORE UPDATE OR DELETE ON judgings
    FOR EACH ROW WHEN (OLD.status = 'done') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER attempts_final BEFORE UPDATE OR DELETE ON attempts
    FOR EACH ROW WHEN (OLD.outcome IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_final BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
