public import EventLoop
public import Threads

/// A thread that owns a connection and runs the jobs of event loops in the order of their submission.
///
/// The thread runs the waiting jobs in one transaction, up to a limit. Many jobs thus share one sync of the disk. If
/// SQLite refuses the data of a job, only the changes of that job are lost. After the transaction ends, the thread
/// posts all completions of a loop together. On a file for reading, the jobs of a transaction read one state of the
/// database.
///
/// `Statements` holds the prepared statements that the jobs use, and the file if the jobs need the file. A value of
/// `Statements` stays on the thread.
///
/// Use one thread for writing and one for reading, so that a commit never delays a read. Start the writer first, since
/// it creates the file.
public final class SQLiteThread<Statements>: Sendable {
    private let queue: SQLiteJobQueue<Statements>

    public init(limits: SQLiteJobLimits = SQLiteJobLimits()) {
        queue = SQLiteJobQueue(limits)
    }

    /// Starts the thread, which opens the file. Call this method once. Jobs may be submitted before the file is open.
    /// They wait, and fail if `opened` reports an error.
    ///
    /// - Parameters:
    ///   - prepare: Prepares the statements. Called on the thread.
    ///   - opened: Called once on `loop`, with nil after the statements were prepared, otherwise with the error. An
    ///     error ends the thread. Use a new object to open the file again.
    /// - Throws: if the system cannot create the thread. Neither closure is called in this case.
    public func start(
        _ path: String, _ access: SQLiteFile.Access, schema: SQLiteSchema, on loop: EventLoop,
        prepare: @escaping @Sendable (SQLiteFile) throws(SQLiteError) -> Statements,
        opened: @escaping @Sendable (SQLiteError?) -> Void
    ) throws(ThreadError) {
        try DetachedThread.start(signals: .blocked) { [self] in
            do throws(SQLiteError) {
                let file = try SQLiteFile.open(path, access, schema: schema)
                do throws(SQLiteError) {
                    var statements: Statements? = try prepare(file)
                    loop.post { opened(nil) }
                    runJobs(on: file, &statements)
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

    /// Hands a job to the thread. Call this method on the job's loop.
    ///
    /// - Throws: ``SQLiteError`` of code `queueFull` or `closed`, or the error that `opened` reports. The job's methods
    ///   are not called in this case.
    public func submit(_ job: SQLiteJob<Statements>) throws(SQLiteError) {
        if let error = queue.add(job) { throw error }
    }

    /// Ends the thread and closes the file. Jobs that wait complete with `closed`. The running statement is
    /// interrupted. The transaction is rolled back if some of its jobs have not run, or if the statement is that of a
    /// writer. All jobs of the transaction then complete with `interrupted` or `closed`. To finish the jobs instead,
    /// wait for their completions before you call this method.
    ///
    /// Close the reader before the writer, because the last connection to close moves the WAL into the database.
    /// Callable from any thread.
    ///
    /// - Parameter closed: Called on `loop` once the file is closed and its lock is free. Completions of jobs of that
    ///   loop precede it.
    public func close(on loop: EventLoop, _ closed: @escaping @Sendable () -> Void) {
        queue.close { loop.post(closed) }
    }

    /// Whether the file is closed or could not be opened. True before the jobs that wait complete. A job also fails if
    /// its transaction does, and the thread then continues. Callable from any thread.
    public var hasEnded: Bool { queue.hasEnded }

    /// Runs jobs until the thread is closed. Releases the statements, which may hold other files, before the end.
    private func runJobs(on file: SQLiteFile, _ statements: inout Statements?) {
        queue.opened(file)
        var batch: [SQLiteJob<Statements>] = []
        while let current = statements, queue.take(&batch) {
            file.run(batch, current) { queue.mustStop }
            Self.handBack(batch)
            // Release the jobs, whose results may be large, before a wait that may be long.
            batch.removeAll(keepingCapacity: true)
        }
        statements = nil
        file.close()
        end(SQLiteJobQueue<Statements>.closed)
    }

    private func end(_ error: SQLiteError) {
        let rest = queue.end(error)
        for job in rest.jobs { job.error = error }
        Self.handBack(rest.jobs)
        for action in rest.whenEnded { action() }
    }

    /// Posts the completions of the jobs to their loops. There are few loops, so a search in an array suffices.
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
