import Registrations
import TestKit
import Testing

@Suite struct SuspicionTests {
    private static let day: Int64 = 24 * 3_600_000

    @Test func `The third suspicion suspends a row, which is not deleted`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1))
        for number in 0..<2 {
            let outcome = try store.apply(.suspect("0a", at: 1 + Int64(number) * Self.day))
            #expect(outcome.reply == .stored && outcome.events == [] && store.reached == ["ann 0a"])
        }
        let outcome = try store.apply(.suspect("0a", at: 1 + 2 * Self.day))
        #expect(outcome.reply == .stored && outcome.eventWords == ["suspended ann 0a"])
        #expect(store.reached == [] && store.rows.values.first?.details?.suspicion?.count == 3)
        #expect(try store.apply(.suspect("0a", at: 9 * Self.day)).reply == .unchanged)
        #expect(try store.apply(.register("ann", "0a", at: 3 * Self.day)).reply == .stored)
        #expect(store.reached == ["ann 0a"] && store.rows.values.first?.details?.suspicion == nil)
    }

    @Test func `One suspicion counts in 24 hours, by the time of the response`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1))
        #expect(try store.apply(.suspect("0a", at: 10)).reply == .stored)
        for at in [10, 9, 11, 9 + Self.day] {
            let before = store
            #expect(try store.apply(.suspect("0a", at: at)).reply == .unchanged && store == before)
        }
        #expect(try store.apply(.suspect("0a", at: 10 + Self.day)).reply == .stored)
        #expect(store.rows.values.first?.details?.suspicion?.count == 2)
    }

    @Test func `A suspicion older than the registration does not count`() throws {
        var store = try RegistrationModel()
        #expect(try store.apply(.suspect("0a", at: 1)).reply == .notFound)
        try store.apply(.register("ann", "0a", at: 5))
        #expect(try store.apply(.suspect("0a", at: 4)).reply == .superseded)
        #expect(try store.apply(.suspect("0a", at: 5)).reply == .stored)
        try store.apply(.unregister(token: "0a", at: 6))
        #expect(try store.apply(.suspect("0a", at: 7)).reply == .notFound)
        #expect(store.rows.count == 1)
    }

    @Test func `A late registration keeps only the suspicion that is newer`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1))
        for number in 0..<3 { try store.apply(.suspect("0a", at: 1 + Int64(number) * Self.day)) }
        #expect(store.reached == [])
        try store.apply(.register("ann", "0a", at: 2 * Self.day))
        #expect(store.reached == ["ann 0a"])
        #expect(
            store.rows.values.first?.details?.suspicion
                == Suspicion(count: 1, since: RegistrationModel.start + 1 + 2 * Self.day))
    }

    @Test func `A suspicion with an extreme time counts, or is newer than the refusal`() throws {
        for (since, reply) in [(Int64.min, RegistrationReply.stored), (.max, .unchanged)] {
            var store = try RegistrationModel()
            try store.apply(.register("ann", "0a", at: 1))
            var row = try #require(store.rows.values.first)
            var details = try #require(row.details)
            details.suspicion = Suspicion(count: 1, since: since)
            row.state = .live(details)
            store.rows[row.key] = row
            #expect(try store.apply(.suspect("0a", at: 2)).reply == reply)
        }
    }

    @Test func `Suspicions count for each user of a shared token`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, shared: true))
        try store.apply(.register("bob", "0a", at: Self.day, shared: true))
        for number in 0..<3 { try store.apply(.suspect("0a", at: 1 + Int64(number) * Self.day)) }
        #expect(store.reached == ["bob 0a"])
    }
}
