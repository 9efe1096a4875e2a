-- Every change of a judging that others can see leaves an event, in the same transaction, numbered
-- under the submission's row lock. A trigger, so that no statement can forget it.
CREATE FUNCTION record_event(
    judging judgings, name text, status text, phase text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    next_seq bigint;
BEGIN
    UPDATE submissions SET last_seq = last_seq + 1 WHERE id = judging.submission_id
        RETURNING last_seq INTO STRICT next_seq;
    INSERT INTO events (submission_id, seq, judging_id, name, attempt, status, phase,
                        verdict, kind, message, at)
    VALUES (judging.submission_id, next_seq, judging.id, name, judging.attempts, status, phase,
            CASE name WHEN 'status' THEN judging.verdict END,
            CASE name WHEN 'status' THEN judging.kind END,
            CASE name WHEN 'status' THEN judging.message END,
            lightspeed_now());
END $$;

CREATE FUNCTION record_judging_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.report IS NOT NULL THEN
        PERFORM record_event(NEW, 'report', NULL, NULL);
    END IF;
    IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
        PERFORM record_event(NEW, 'status', NEW.status, NULL);
    ELSIF NEW.phase IS DISTINCT FROM OLD.phase THEN
        PERFORM record_event(NEW, 'phase', NULL, NEW.phase);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER judgings_events AFTER INSERT OR UPDATE ON judgings
    FOR EACH ROW EXECUTE FUNCTION record_judging_events();
