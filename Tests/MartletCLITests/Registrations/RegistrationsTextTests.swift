import APNSProtocol
import Crypto
import Registrations
import Testing

@testable import MartletCLI
@testable import RegistrationTools

/// The output formats of `martlet registrations`.
@Suite struct RegistrationsTextTests {
    private static let now: Int64 = 1_750_000_000_000
    private static let token = String(repeating: "0a", count: 32)

    @Test func `A table has shortened tokens unless they are revealed`() {
        let rows = [row("ann"), row("ann", suspicions: 3), row("ann", expiresAt: Self.now)]
        let table = RegistrationsText.table(rows, hasUsers: false, reveals: false, now: Self.now)
        #expect(
            table == """
                APP              ENVIRONMENT  KIND    SCOPE  TOKEN         DEVICE  PLATFORM  REGISTERED  STATE
                com.example.app  sandbox      device  -      0a0a0a0a…+56  phone   ios       2 d         live
                com.example.app  sandbox      device  -      0a0a0a0a…+56  phone   ios       2 d         suspended
                com.example.app  sandbox      device  -      0a0a0a0a…+56  phone   ios       2 d         expired

                """)
        #expect(!table.contains("ann"))
        #expect(RegistrationsText.table(rows, hasUsers: true, reveals: true, now: Self.now).contains(Self.token))
        #expect(RegistrationsText.table(rows, hasUsers: true, reveals: true, now: Self.now).contains("\nann "))
    }

    @Test func `JSON has the members of the command, and the state`() {
        #expect(
            RegistrationsText.json(row("ann"), reveals: false, now: Self.now)
                == #"{"user":"ann","app":"com.example.app","environment":"sandbox","kind":"device","#
                + #""device_token":"0a0a0a0a…+56","device_id":"phone","platform":"ios","#
                + #""registered_at":1749800000000,"state":"live"}"#)
        var unreadable = row("ann")
        unreadable.state = .live(Registration.Details(userKey: Registration.Key.unshared, identity: nil))
        #expect(RegistrationsText.json(unreadable, reveals: true, now: Self.now).hasSuffix(#""state":"unreadable"}"#))
    }

    @Test func `Groups are a table or JSON`() {
        var groups = RegistrationGroups(by: [.app, .kind])
        #expect(RegistrationsText.table(groups) == "0 registrations, 0 suspended\n")
        groups.add(row("ann"), now: Self.now)
        groups.add(row("bob", suspicions: 3), now: Self.now)
        #expect(
            RegistrationsText.table(groups) == """
                COUNT  SUSPENDED  APP              KIND
                2      1          com.example.app  device
                2 registrations, 1 suspended

                """)
        #expect(
            RegistrationsText.json(groups)
                == [#"{"app":"com.example.app","kind":"device","count":2,"suspended":1}"#])
    }

    @Test func `The record of an erasure shortens tokens, and nothing else`() {
        let user = String(repeating: "ab", count: 20)
        let event = #"{"event":"erased","user":"\#(user)","device_token":"\#(Self.token)","registered_at":1}"#
        let outcome = Erasure.Outcome(at: 7, reply: .ended, events: [Array(event.utf8)], unreadableCount: 0)
        let erasure = Erasure(user: user, app: "com.example.app")
        #expect(
            RegistrationsText.json(erasure, outcome, reveals: false)
                == #"{"user":"\#(user)","app":"com.example.app","erased_at":7,"outcome":"ended","registrations":["#
                + event.replacing(Self.token, with: "0a0a0a0a…+56") + "]}")
        #expect(RegistrationsText.json(erasure, outcome, reveals: true).contains(event))
    }

    @Test func `The summary of an import has all counts`() {
        var counts = ImportCounts()
        counts.add(.stored)
        counts.add(.superseded)
        counts.addRejects(1)
        #expect(counts.text == "1 stored, 1 superseded, 1 rejected")
        #expect(
            RegistrationsText.json(counts, lastLine: 4)
                == #"{"event":"summary","stored":1,"moved":0,"unchanged":0,"superseded":1,"ended":0,"rejected":1,"#
                + #""last_line":4}"#)
        #expect(ImportCounts().text == "no registrations")
    }

    private func row(_ user: String, suspicions: Int = 0, expiresAt: Int64? = nil) -> Registration {
        let zero = Registration.Key.unshared
        return Registration(
            key: Registration.Key(token: zero), app: "com.example.app", environment: .sandbox, kind: .device,
            registeredAt: Self.now - 200_000_000, deviceKey: nil,
            state: .live(
                Registration.Details(
                    userKey: zero,
                    identity: RegistrationIdentity(token: Self.token, user: user, deviceID: "phone"), platform: .ios,
                    expiresAt: expiresAt,
                    suspicion: suspicions > 0 ? Suspicion(count: suspicions, since: Self.now) : nil)))
    }
}
