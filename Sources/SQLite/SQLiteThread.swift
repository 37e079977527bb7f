public import EventLoop
public import Threads

/// A thread that owns a connection and runs the jobs of event loops, in the order of their submission.
///
/// The thread runs all waiting jobs in one transaction, so that many jobs share one sync of the disk. A job whose data
/// is refused loses only its own changes. Completions return to each job's loop, after the commit and in one step for
/// all jobs of a loop. On a file for reading, the jobs of a transaction read one state of the database.
///
/// `Statements` is what the jobs use: the prepared statements, and the file if needed. It stays on the thread.
///
/// Keep one thread for writing and one for reading: a commit then never delays a read. Start the writer first, since it
/// creates the file.
public final class SQLiteThread<Statements>: Sendable {
    private let queue: SQLiteJobQueue<Statements>

    public init(limits: SQLiteJobLimits = SQLiteJobLimits()) {
        queue = SQLiteJobQueue(limits)
    }

    /// Starts the thread, which opens the file. Jobs may be submitted at once: they wait, and fail if the file cannot
    /// be opened. Call it once.
    ///
    /// - Parameters:
    ///   - prepare: Prepares the statements. Called on the thread.
    ///   - opened: Called on `loop`, once: nil if jobs run, otherwise the error. After an error the thread has ended;
    ///     use a new object for the next attempt.
    /// - Throws: if the system has no thread left. Nothing is called in this case.
    public func start(
        _ path: String, _ access: SQLiteFile.Access, schema: SQLiteSchema, on loop: EventLoop,
        prepare: @escaping @Sendable (SQLiteFile) throws(SQLiteError) -> Statements,
        opened: @escaping @Sendable (SQLiteError?) -> Void
    ) throws(ThreadError) {
        try DetachedThread.start(signals: .blocked) { [self] in
            do throws(SQLiteError) {
                let file = try SQLiteFile.open(path, access, schema: schema)
                do throws(SQLiteError) {
                    let statements = try prepare(file)
                    loop.post { opened(nil) }
                    runJobs(on: file, statements)
                } catch {
                    file.close()
                    throw error
                }
            } catch {
                loop.post { opened(error) }
                end(error)
            }
        }
    }

    /// Hands a job to the thread. Call it on the job's loop.
    ///
    /// - Throws: ``SQLiteError`` of code `queueFull` or `closed`, or the error of opening the file. The job's methods
    ///   are not called in this case.
    public func submit(_ job: SQLiteJob<Statements>) throws(SQLiteError) {
        if let error = queue.add(job) { throw error }
    }

    /// Ends the thread and closes the file. Jobs that wait complete with `closed`. The running statement is
    /// interrupted; its transaction is rolled back, unless all its jobs have run, and its jobs complete with
    /// `interrupted` or `closed`. To finish the jobs instead, wait for their completion first.
    ///
    /// Close the reader before the writer: the last one to close moves the WAL into the database. Callable from any
    /// thread.
    ///
    /// - Parameter closed: Called on `loop` once the file is closed and its lock is free. Completions of jobs of that
    ///   loop precede it.
    public func close(on loop: EventLoop, _ closed: @escaping @Sendable () -> Void) {
        queue.close { loop.post(closed) }
    }

    private func runJobs(on file: SQLiteFile, _ statements: Statements) {
        queue.opened(file)
        var batch: [SQLiteJob<Statements>] = []
        while queue.take(&batch) {
            file.run(batch, statements) { queue.mustStop }
            Self.handBack(batch)
            // Results may be large, and the wait for the next jobs long.
            batch.removeAll(keepingCapacity: true)
        }
        file.close()
        end(SQLiteJobQueue<Statements>.closed)
    }

    private func end(_ error: SQLiteError) {
        let rest = queue.end(error)
        for job in rest.jobs { job.error = error }
        Self.handBack(rest.jobs)
        for action in rest.whenEnded { action() }
    }

    /// Posts the jobs to their loops. There are few loops, so a search in an array suffices.
    private static func handBack(_ jobs: [SQLiteJob<Statements>]) {
        var groups: [(loop: EventLoop, jobs: [SQLiteJob<Statements>])] = []
        for job in jobs {
            if let index = groups.firstIndex(where: { $0.loop === job.loop }) {
                groups[index].jobs.append(job)
            } else {
                groups.append((job.loop, [job]))
            }
        }
        for (loop, jobs) in groups {
            loop.post { for job in jobs { job.completed(job.error) } }
        }
    }
}
