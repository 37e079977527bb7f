import APNSProtocol
import EventLoop
import Testing

@testable import APNSSimulator

/// Tests of state changes during open connections.
@Suite struct StateChangeTests {
    private var apns: Conversation
    private let provider: Provider

    init() throws {
        provider = try Provider()
        apns = try Conversation(provider)
    }

    @Test mutating func replacingWithTheSameStateChangesNothing() throws {
        #expect(apns.push() == "200")
        apns.state.replace(with: try provider.state())
        #expect(apns.push() == "200")
    }

    @Test mutating func anAppOfTheNewStateNeedsANewConnection() throws {
        #expect(apns.push() == "200")
        var next = try provider.state()
        next.addApp(bundleID: "com.example.second", teamID: provider.teamID)
        apns.state.replace(with: next)
        #expect(apns.push() == "200")
        #expect(apns.push(["apns-topic": "com.example.second"]) == #"400 {"reason":"TopicDisallowed"}"#)
        apns.connection = ConnectionMemory()
        #expect(apns.push(["apns-topic": "com.example.second"]) == "200")
    }

    @Test mutating func missingPartsOfTheNewStateAreRemoved() throws {
        #expect(apns.push() == "200")
        apns.state.replace(with: SimulatorState())
        #expect(apns.push() == #"403 {"reason":"InvalidProviderToken"}"#)
    }

    @Test mutating func aTeamIsRemovedWithItsParts() throws {
        apns.state.addApp(bundleID: "com.example.live", teamID: provider.teamID, allowsBroadcasts: true)
        apns.state.add(
            Channel(id: "AAAA", bundleID: "com.example.live", environment: .sandbox, storagePolicy: .none))
        #expect(apns.push() == "200")
        #expect(apns.state.removeTeam(id: provider.teamID) == true)
        #expect(apns.state.removeTeam(id: provider.teamID) == false)
        #expect(apns.state.teamIDs == [] && apns.state.allChannels == [])
        #expect(apns.push() == #"403 {"reason":"InvalidProviderToken"}"#)
    }
}

@Suite struct DeviceTableTests {
    /// Adds and removes devices thousands of times, in random order. The table finds exactly the remaining devices.
    @Test func findsTheRemainingDevices() {
        var table = DeviceTable()
        var random = SeededRandom(seed: 7)
        var expected: [String: String] = [:]
        for _ in 0..<4000 {
            let token = String(random.next() % 600 + 0x1000, radix: 16)
            if random.next() % 3 == 0 {
                let removed = table.remove(token: Array(token.utf8))?.bundleID
                #expect(removed == expected.removeValue(forKey: token))
            } else {
                let bundleID = "app\(random.next() % 10)"
                table.insert(Device(token: token, bundleID: bundleID))
                expected[token] = bundleID
            }
        }
        #expect(table.count == expected.count)
        for number in UInt64(0x1000)..<0x1300 {
            let token = String(number, radix: 16)
            #expect(withBytes(token.uppercased()) { table[$0]?.bundleID } == expected[token])
        }
    }
}
