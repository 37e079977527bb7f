import Crypto
import Registrations
import TestKit
import Testing

/// Commands that concern many rows. They have an installation name that all phones share, a token that many users
/// share, or a user with many tokens.
@Suite struct HostileBatchTests {
    enum Shape: CaseIterable, Sendable {
        case oneDevice
        case oneSharedToken
        case oneUser
        case oneUserAndDevice
        case prunedSharedToken

        func command(_ number: Int) -> RegistrationCommand {
            let (user, token, at) = ("user \(number)", String(number + 0x1000, radix: 16), Int64(number + 1))
            return switch self {
            case .oneDevice: .register(user, token, at: at, device: "phone")
            case .oneSharedToken: .register(user, "0a", at: at, device: "phone", shared: true)
            case .oneUser: .register("ann", token, at: at)
            case .oneUserAndDevice: .register("ann", token, at: at, device: "phone")
            case .prunedSharedToken:
                number.isMultiple(of: 2) ? .register(user, "0a", at: at, shared: true) : .prune("0a", at: at)
            }
        }
    }

    /// Returns the time in nanoseconds that the rules need for a batch of `count` commands.
    ///
    /// The commands concern `count` stored rows. If they share one token, they concern at most half of the rows that a
    /// token can have.
    private func nanoseconds(_ shape: Shape, count: Int) throws -> Int {
        let model = try RegistrationModel()
        let keyed = try (0..<count).map { try model.keyed(shape.command($0)) }
        // More rows of an installation or user than a store keeps.
        var rows = keyed.flatMap { RegistrationRules(now: model.now).apply([$0], to: [], marks: []).rows }
        if shape == .oneSharedToken || shape == .prunedSharedToken {
            rows = Array(rows.prefix(RegistrationRules.rowsPerTokenMax / 2))
        }
        let later = try (count..<2 * count).map { try model.keyed(shape.command($0)) }
        return ProcessorClock.nanoseconds { _ = model.rules.apply(later, to: rows, marks: []) }
    }

    // If the rules compared each command with each row, twice as many commands and rows would take four times as long.
    @Test(arguments: Shape.allCases) func `The time grows as commands and rows do`(shape: Shape) throws {
        let count = 600
        var ratios: [Double] = []
        for _ in 0..<3 {
            let once = try nanoseconds(shape, count: count)
            let twice = try nanoseconds(shape, count: 2 * count)
            ratios.append(Double(twice) / Double(once))
            if ratios.last! < 3 { return }
        }
        Issue.record("doubling multiplies the time by \(ratios)")
    }

    @Test(arguments: Shape.allCases) func `A command concerns few rows`(shape: Shape) throws {
        var store = try RegistrationModel()
        let count = 2 * RegistrationRules.rowsPerTokenMax
        var reply: RegistrationReply?
        for start in stride(from: 0, to: count, by: CommandBatch.commandsMax) {
            let commands = try (start..<start + CommandBatch.commandsMax).map { try store.keyed(shape.command($0)) }
            reply = store.apply(commands).outcomes.last?.reply
        }
        let touched = TouchedKeys([try store.keyed(shape.command(count))])
        let rowCount = store.rows.values.count { touched.contain($0) }
        switch shape {
        case .oneDevice: #expect(rowCount == 1 + RegistrationRules.endsPerDeviceMax && store.reached.count == 1)
        case .oneUserAndDevice: #expect(rowCount == 1 + RegistrationRules.endsPerDeviceMax && reply == .stored)
        case .oneSharedToken: #expect(rowCount == RegistrationRules.rowsPerTokenMax && reply == .superseded)
        case .prunedSharedToken: #expect(rowCount == RegistrationRules.rowsPerTokenMax)
        case .oneUser: #expect(rowCount == store.devicesPerUserMax && store.reached.count == rowCount)
        }
    }

    @Test func `The newest token of an installation stays live after tombstones have lost the installation`() throws {
        var store = try RegistrationModel()
        let count = 2 * RegistrationRules.endsPerDeviceMax
        for number in 1...count { try store.apply(Shape.oneDevice.command(number)) }
        let newest = store.reached
        #expect(newest.count == 1)
        // A token that was never registered, at the time of an earlier registration.
        for at in [1, Int64(count / 2), Int64(count)] {
            let reply = try store.apply(.register("eve", "0e", at: at, device: "phone")).reply
            #expect(reply == .superseded && store.reached == newest)
        }
    }

    @Test func `Users beyond the limit of a token do not affect the others`() throws {
        var store = try RegistrationModel()
        let commands = (0..<RegistrationRules.rowsPerTokenMax).map { Shape.oneSharedToken.command($0) }
        store.apply(try commands.map { try store.keyed($0) })
        let before = store
        #expect(try store.apply(.register("eve", "0a", at: 1_000_000, shared: true)).reply == .superseded)
        #expect(store == before)
        // A user of the token registers again. Then an unshared registration replaces all users.
        #expect(try store.apply(.register("user 0", "0a", at: 500_000, device: "phone", shared: true)).reply == .stored)
        let outcome = try store.apply(.register("eve", "0a", at: 1_000_000))
        #expect(outcome.reply == .moved && outcome.events.count == RegistrationRules.rowsPerTokenMax)
        #expect(store.reached == ["eve 0a"])
    }
}
