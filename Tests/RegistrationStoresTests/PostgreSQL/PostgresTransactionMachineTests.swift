import PostgreSQL
import Registrations
import Testing

@testable import RegistrationStores

@Suite struct PostgresTransactionMachineTests {
    private static func error(_ state: String) throws -> PostgresError { PostgresError(try #require(SQLState(state))) }

    @Test func `A transaction reads, writes and completes`() {
        var machine = PostgresTransactionMachine()
        #expect(machine.start(hasNewApps: false) == [.read])
        #expect(machine.found(.changed, hasNewApps: false) == [.write])
        #expect(machine.committed() == [.complete])
        #expect(machine.state == .ended)
    }

    @Test func `A transaction without changes is rolled back`() {
        var machine = PostgresTransactionMachine()
        #expect(machine.start(hasNewApps: false) == [.read])
        #expect(machine.found(.unchanged, hasNewApps: false) == [.rollBack, .complete])
    }

    @Test func `New apps get numbers before the transaction begins`() {
        var machine = PostgresTransactionMachine()
        #expect(machine.start(hasNewApps: true) == [.number])
        #expect(machine.numbered() == [.read])
        // Another process has used the numbers of the new apps.
        #expect(machine.found(.outdated, hasNewApps: true) == [.rollBack, .number])
        #expect(machine.numbered() == [.read])
        // An erasure must include another app that has appeared.
        #expect(machine.found(.outdated, hasNewApps: false) == [.rollBack, .read])
        #expect(machine.found(.changed, hasNewApps: false) == [.write])
        #expect(machine.committed() == [.complete])
    }

    @Test func `An outdated transaction is repeated three times`() {
        var machine = PostgresTransactionMachine()
        _ = machine.start(hasNewApps: false)
        for _ in 0..<PostgresRepeats.repeatsMax {
            #expect(machine.found(.outdated, hasNewApps: false) == [.rollBack, .read])
        }
        let actions = machine.found(.outdated, hasNewApps: false)
        guard case .fail(let fault) = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect(fault.code == .unreachable)
        #expect(machine.state == .ended)
    }

    @Test(arguments: ["40001", "40P01", "0A000", "23505"])
    func `A conflict is repeated three times at once`(state: String) throws {
        let conflict = try Self.error(state)
        var machine = PostgresTransactionMachine()
        _ = machine.start(hasNewApps: false)
        for _ in 0..<PostgresRepeats.repeatsMax {
            _ = machine.found(.changed, hasNewApps: false)
            #expect(machine.failed(conflict, hasNewApps: false) == [.read])
        }
        #expect(machine.failed(conflict, hasNewApps: false) == [.fail(StoreFault(conflict))])
        #expect(machine.failed(conflict, hasNewApps: false) == [])
    }

    /// The numbers of the apps are unknown after the failure.
    @Test func `A repeat numbers the apps that are unknown`() throws {
        var machine = PostgresTransactionMachine()
        _ = machine.start(hasNewApps: false)
        #expect(machine.failed(try Self.error("40001"), hasNewApps: true) == [.number])
    }

    @Test(arguments: ["08006", "57P01", "25006", "55P03", "28P01", "53100", "42P01", "22003", "23514", "XX000"])
    func `Other errors end the transaction`(state: String) throws {
        let error = try Self.error(state)
        var machine = PostgresTransactionMachine()
        _ = machine.start(hasNewApps: true)
        #expect(machine.failed(error, hasNewApps: true) == [.fail(StoreFault(error))])
        #expect(machine.numbered() == [])
        #expect(machine.found(.changed, hasNewApps: false) == [])
        #expect(machine.committed() == [])
    }

    @Test func `A change that cannot be made is refused`() {
        let fault = StoreFault(.data, "malformed")
        var machine = PostgresTransactionMachine()
        _ = machine.start(hasNewApps: false)
        #expect(machine.found(.impossible(fault), hasNewApps: false) == [.rollBack, .fail(fault)])
    }
}
