import EventLoop
import Registrations
import TestKit
import Testing

/// Tests that the order in which commands arrive does not matter, with the exceptions that `RegistrationRules` names.
@Suite struct OrderTests {
    private static let setsMax = 10_000
    private static let commandsPerSet = 8
    private static let permutationsPerSet = 2

    @Test func `Any order of eight random commands ends in the same rows and marks`() throws {
        var random = SeededRandom(seed: 47)
        let empty = try RegistrationModel()
        var comparedCount = 0
        while comparedCount < Self.setsMax {
            let set = CommandSet(&random, count: Self.commandsPerSet)
            guard !set.isException else { continue }
            comparedCount += 1
            let keyed = try set.commands.map { try empty.keyed($0) }
            var expected = empty
            expected.apply(keyed)
            for _ in 0..<Self.permutationsPerSet {
                var store = empty
                for command in keyed.shuffled(using: &random) { store.apply([command]) }
                guard store.withoutSuspicions != expected.withoutSuspicions else { continue }
                Issue.record("set \(comparedCount): \(set.commands)")
                return
            }
        }
    }

    @Test func `A command that arrives twice changes nothing, and reports no event`() throws {
        var random = SeededRandom(seed: 48)
        let empty = try RegistrationModel()
        for number in 0..<2_000 {
            let set = CommandSet(&random, count: Self.commandsPerSet)
            var store = empty
            for command in set.commands {
                let keyed = try store.keyed(command)
                store.apply([keyed])
                let before = store
                let change = store.apply([keyed])
                #expect(store == before && change.rows == [] && change.marks == [], "set \(number)")
                #expect(change.outcomes[0].events == [], "set \(number)")
            }
        }
    }

    @Test func `A batch equals its commands one by one, with the same replies and events`() throws {
        var random = SeededRandom(seed: 49)
        var empty = try RegistrationModel()
        empty.devicesPerUserMax = 2
        for number in 0..<2_000 {
            let keyed = try CommandSet(&random, count: 12).commands.map { try empty.keyed($0) }
            var (batch, single) = (empty, empty)
            let outcomes = batch.apply(keyed).outcomes
            #expect(outcomes == keyed.flatMap { single.apply([$0]).outcomes }, "set \(number)")
            #expect(batch == single, "set \(number)")
        }
    }

    @Test func `A row is never live for a user and token twice`() throws {
        var random = SeededRandom(seed: 50)
        let empty = try RegistrationModel()
        for number in 0..<2_000 {
            var store = empty
            for command in CommandSet(&random, count: 12).commands { try store.apply(command) }
            #expect(Set(store.reached).count == store.reached.count, "set \(number)")
        }
    }

    /// This is an exception, because the row of 0a shows only the installation of its newest registration.
    @Test func `A token that changes its installation no longer shows that it was newer`() throws {
        let commands: [RegistrationCommand] = [
            .register("ann", "0b", at: 1, device: "phone"), .register("ann", "0a", at: 2, device: "phone"),
            .register("ann", "0a", at: 3, device: "tablet"),
        ]
        var forward = try RegistrationModel()
        for command in commands { try forward.apply(command) }
        #expect(forward.reached == ["ann 0a"])
        var late = try RegistrationModel()
        for command in [commands[1], commands[2], commands[0]] { try late.apply(command) }
        #expect(late.reached == ["ann 0a", "ann 0b"])
        // The next registration of the installation ends the older token.
        try late.apply(.register("ann", "0c", at: 4, device: "phone"))
        #expect(late.reached == ["ann 0a", "ann 0c"])
    }

    /// This is an exception, because a tombstone has no user to compare.
    @Test func `At equal times, the end of one user wins over the other user`() throws {
        for (first, second) in [("ann", "bob"), ("bob", "ann")] {
            var store = try RegistrationModel()
            try store.apply(.register(first, "0a", at: 1))
            try store.apply(.unregister(first, at: 2))
            #expect(try store.apply(.register(second, "0a", at: 1)).reply == .ended)
            #expect(store.reached == [])
        }
    }
}
