import Crypto
import EventLoop
import PostgreSQL
import Registrations

/// A transaction of a writer, from its call until its outcome. Subclasses add the reading statements, decide the
/// changes, and add the writing statements.
class PostgresOperation {
    let context: PostgresWriterContext
    private var machine = PostgresTransactionMachine()
    private var transaction: PostgresTransaction?

    init(_ context: PostgresWriterContext) {
        self.context = context
        context.connection.workBegan()
    }

    /// The operation's apps that have no known number, sorted. The operation numbers them before its transaction
    /// begins.
    var newApps: [String] { [] }

    /// Adds the statements that read. The last statement is that of ``readApps(in:then:)``, or a statement that its
    /// closure adds. After the last statement, the subclass calls ``found()``.
    func addReads(to transaction: PostgresTransaction) throws(CryptoError) {
        fatalError("addReads must be overridden")
    }

    /// Decides the changes from the rows that were read.
    func decide() throws(CryptoError) -> PostgresTransactionMachine.Finding {
        fatalError("decide must be overridden")
    }

    /// Adds the statements that write.
    func addWrites(to transaction: PostgresTransaction) { fatalError("addWrites must be overridden") }

    func completed() { fatalError("completed must be overridden") }

    func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }

    final func begin() {
        if let fault = context.connection.fault { return fail(fault) }
        perform(machine.start(hasNewApps: !newApps.isEmpty))
    }

    /// Adds the statement that reads new apps. Once it is complete, the apps of all rows that were read before are
    /// known.
    final func readApps(
        in transaction: PostgresTransaction, then next: @escaping () throws(PostgresError) -> Void
    ) {
        var parameters = PostgresParameters()
        parameters.append(Int16(clamping: context.apps.lastContiguousNumber))
        transaction.execute(.newApps, parameters) { [self] rows throws(PostgresError) in
            try context.insertApps(rows)
            try next()
        }
    }

    /// Decides the changes, and continues the operation. The subclass calls it after the last reading statement.
    final func found() {
        do throws(CryptoError) {
            perform(machine.found(try decide(), hasNewApps: !newApps.isEmpty))
        } catch {
            perform(machine.found(.impossible(StoreFault(error)), hasNewApps: false))
        }
    }

    private func perform(_ actions: [PostgresTransactionMachine.Action]) {
        for action in actions {
            switch action {
            case .number: number()
            case .read: read()
            case .write: write()
            case .rollBack: transaction?.rollBack()
            case .complete: complete()
            case .fail(let fault): fail(fault)
            }
        }
    }

    private func number() {
        var parameters = PostgresParameters()
        parameters.append(array: newApps)
        let receiver = PostgresClosureReceiver<Void>(
            { [self] result in
                switch result {
                case .success: perform(machine.numbered())
                case .failure(let error): perform(machine.failed(error, hasNewApps: !newApps.isEmpty))
                }
            }, read: { _ in })
        do throws(PostgresError) {
            try context.connection.connection.execute(
                PostgresWriterStatement.numberApps.rawValue, parameters, receiver: receiver)
        } catch {
            perform(machine.failed(error, hasNewApps: true))
        }
    }

    private func read() {
        do throws(PostgresError) {
            let transaction = try PostgresTransaction(on: context.connection.connection) { [self] result in
                switch result {
                case .success: perform(machine.committed())
                case .failure(let error): perform(machine.failed(error, hasNewApps: !newApps.isEmpty))
                }
            }
            self.transaction = transaction
            do throws(CryptoError) {
                try addReads(to: transaction)
            } catch {
                perform(machine.found(.impossible(StoreFault(error)), hasNewApps: false))
            }
        } catch {
            perform(machine.failed(error, hasNewApps: false))
        }
    }

    private func write() {
        guard let transaction else { return }
        addWrites(to: transaction)
        transaction.commit()
    }

    private func complete() {
        transaction = nil
        context.connection.workEnded()
        completed()
    }

    /// Reports the fault after the call that caused it has returned.
    private func fail(_ fault: StoreFault) {
        transaction = nil
        context.connection.loop.later { [self] in
            context.connection.workEnded()
            failed(fault)
        }
    }
}
