extension SQLiteFile {
    /// Runs jobs in one transaction, and sets the errors of jobs that fail. If the transaction fails, or if the path no
    /// longer names the file, all jobs fail.
    ///
    /// - Parameter mustStop: Returns whether the remaining jobs must not run. Then the transaction is rolled back.
    func run<Statements>(_ jobs: [SQLiteJob<Statements>], _ statements: Statements, mustStop: () -> Bool) {
        do throws(SQLiteError) {
            try transaction { () throws(SQLiteError) in
                for job in jobs {
                    guard !mustStop() else { throw SQLiteJobQueue<Statements>.closed }
                    try run(job, statements)
                }
            }
            // A file that is in place after the commit was in place at the commit.
            try requireInPlace()
        } catch {
            for job in jobs { job.error = error }
        }
    }

    /// Runs one job, and sets its error if the other jobs can continue.
    ///
    /// - Throws: the error that ends the whole transaction.
    private func run<Statements>(_ job: SQLiteJob<Statements>, _ statements: Statements) throws(SQLiteError) {
        do throws(SQLiteError) {
            switch access {
            case .readWrite: try savepoint { () throws(SQLiteError) in try job.run(statements) }
            // A read changes nothing, so it needs no savepoint.
            case .readOnly: try job.run(statements)
            }
        } catch {
            // A failed read, for example of a damaged page, does not affect other reads.
            let isConfined = error.isCausedByData || access == .readOnly
            guard isConfined, isInTransaction else { throw error }
            job.error = error
        }
    }
}
