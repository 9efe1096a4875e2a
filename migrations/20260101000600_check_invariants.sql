-- What must hold after every transaction; no row is a healthy answer. Tests call it at their end,
-- an operator whenever in doubt. It reads whole tables.
CREATE FUNCTION check_invariants() RETURNS TABLE (invariant text, subject text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT 'at most one live lease per judging', a.judging_id::text
    FROM attempts a WHERE a.outcome IS NULL
    GROUP BY a.judging_id HAVING count(*) > 1
  UNION ALL
    SELECT 'running exactly while an attempt is live', j.id::text
    FROM judgings j
    WHERE (j.status = 'running')
        <> EXISTS (SELECT FROM attempts a WHERE a.judging_id = j.id AND a.outcome IS NULL)
  UNION ALL
    SELECT 'attempts and faults are those of the rows', j.id::text
    FROM judgings j
    LEFT JOIN LATERAL (
        SELECT count(*) AS attempts, coalesce(max(a.number), 0) AS newest,
               count(*) FILTER (WHERE a.outcome IN ('expired', 'retried')) AS faults
        FROM attempts a WHERE a.judging_id = j.id
    ) counted ON true
    WHERE (j.attempts, j.attempts, j.faults)
        IS DISTINCT FROM (counted.attempts::int, counted.newest, counted.faults::int)
  UNION ALL
    SELECT 'a report is written by the attempt that ended with it', j.id::text
    FROM judgings j
    WHERE (j.report IS NOT NULL)
        <> EXISTS (SELECT FROM attempts a WHERE a.judging_id = j.id AND a.outcome = 'reported')
  UNION ALL
    SELECT 'a cancelled attempt belongs to a cancelled judging', a.id::text
    FROM attempts a JOIN judgings j ON j.id = a.judging_id
    WHERE a.outcome = 'cancelled' AND j.verdict IS DISTINCT FROM 'cancelled'
  UNION ALL
    SELECT 'no lease is held by a worker from its future', a.id::text
    FROM attempts a JOIN workers w ON w.id = a.worker_id
    WHERE a.incarnation > w.incarnation
  UNION ALL
    SELECT 'every submission has a judging', s.id::text
    FROM submissions s
    WHERE NOT EXISTS (SELECT FROM judgings j WHERE j.submission_id = s.id)
  UNION ALL
    SELECT 'a judging is of its submission''s problem and device', j.id::text
    FROM judgings j JOIN submissions s ON s.id = j.submission_id
    WHERE (j.problem_version, j.device) IS DISTINCT FROM (s.problem_version, s.device)
  UNION ALL
    SELECT 'events are numbered without gaps', s.id::text
    FROM submissions s
    LEFT JOIN LATERAL (
        SELECT count(*) AS events, coalesce(max(e.seq), 0) AS newest
        FROM events e WHERE e.submission_id = s.id
    ) counted ON true
    WHERE (s.last_seq, s.last_seq) IS DISTINCT FROM (counted.events, counted.newest)
  UNION ALL
    SELECT 'the verdict was announced once, as the last event', j.id::text
    FROM judgings j
    LEFT JOIN LATERAL (
        SELECT count(*) FILTER (WHERE e.status = 'done') AS endings,
               max(e.seq) FILTER (WHERE e.status = 'done') AS ending, max(e.seq) AS newest
        FROM events e WHERE e.judging_id = j.id
    ) told ON true
    WHERE CASE j.status WHEN 'done' THEN told.endings <> 1 OR told.ending <> told.newest
          ELSE told.endings <> 0 END;
END;
