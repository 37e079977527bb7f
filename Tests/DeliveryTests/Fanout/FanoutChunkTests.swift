import Crypto
import Registrations
import TestKit
import Testing

@testable import Delivery

/// The children of one delivery.
@Suite struct FanoutChunkTests {
    private static func device(_ token: UInt64, slot: UInt64 = 0) -> FoundDevice {
        FoundDevice(
            key: Registration.Key(token: UUIDValue(high: 0, low: token), slot: UUIDValue(high: 0, low: slot)),
            token: "aa", registeredAt: 1)
    }

    private static func devices(_ range: Range<UInt64>) -> [FoundDevice] { range.map { device($0) } }

    private func chunk(from start: FanoutCursor = FanoutCursor(), users: Int, childBytes: Int = 300) -> FanoutChunk {
        FanoutChunk(from: start, userCount: users, childBytes: childBytes)
    }

    @Test func `A chunk with all users is the last one`() {
        var chunk = chunk(users: 3)
        #expect(chunk.nextUsers == 0..<3)
        chunk.append(Self.devices(0..<2))
        chunk.append([])
        #expect(!chunk.isComplete && chunk.nextUsers == 2..<3)
        chunk.append(Self.devices(7..<8))
        #expect(chunk.isLast && chunk.children.count == 3)
        #expect(chunk.end.deviceCount == 3 && chunk.end.usersWithoutDevice == 1 && chunk.end.user == 3)
    }

    @Test func `A chunk looks up as many users as a lookup has queries`() {
        #expect(chunk(users: 1000).nextUsers == 0..<DeviceLookup.queriesMax)
    }

    @Test func `A full chunk ends within a user, and the next one continues there`() {
        var first = chunk(users: 2)
        first.append(Self.devices(0..<400))
        first.append(Self.devices(400..<600))
        #expect(first.isFull && !first.isLast && first.children.count == FanoutChunk.childrenMax)
        #expect(first.end.user == 1 && first.end.key == Self.device(499).key)
        var second = chunk(from: first.end, users: 2)
        #expect(second.nextUsers == 1..<2)
        second.append(Self.devices(400..<600))
        #expect(second.isLast && second.children.map(\.device) == Self.devices(500..<600))
        #expect(second.end.deviceCount == 600 && second.end.usersWithoutDevice == 0)
    }

    @Test func `A user whose remaining devices ended is not a user without a device`() {
        var start = FanoutCursor()
        (start.key, start.deviceCount) = (Self.device(5).key, 6)
        var chunk = chunk(from: start, users: 1)
        chunk.append(Self.devices(0..<6))
        #expect(chunk.isLast && chunk.children.isEmpty && chunk.end.usersWithoutDevice == 0)
        #expect(chunk.end.deviceCount == 6)
    }

    @Test func `Users who share a token get one child`() {
        var chunk = chunk(users: 2)
        chunk.append([Self.device(1, slot: 1)])
        chunk.append([Self.device(1, slot: 2), Self.device(2)])
        #expect(chunk.children.map(\.device.key.token.low) == [1, 2])
        #expect(chunk.children.map(\.owners) == [[0, 1], [1]] && chunk.children.allSatisfy { !$0.mayRepeat })
        #expect(chunk.end.deviceCount == 2 && chunk.end.usersWithoutDevice == 0)
    }

    @Test func `A child names a limited number of owners`() {
        var chunk = chunk(users: 100)
        for user in 0..<100 { chunk.append([Self.device(1, slot: UInt64(user) + 1)]) }
        #expect(chunk.children.map(\.owners) == [Array(0..<FanoutChunk.ownersMax)] && chunk.isLast)
    }

    @Test func `A full chunk still adds the owners of its devices`() {
        var chunk = chunk(users: 2, childBytes: FanoutChunk.bytesMax / 2)
        chunk.append([Self.device(1), Self.device(2)])
        chunk.append([Self.device(2, slot: 1), Self.device(3)])
        #expect(chunk.children.map(\.owners) == [[0], [0, 1]] && chunk.isFull)
        #expect(chunk.end.user == 1 && chunk.end.key == Self.device(2, slot: 1).key)
    }

    /// Of the two registrations of a token, at least one is shared. The divided request has a child for each.
    @Test(arguments: [(0, 1), (1, 0), (1, 2)] as [(UInt64, UInt64)])
    func `The second child of a token that users share is marked`(_ firstSlot: UInt64, _ secondSlot: UInt64) {
        var first = chunk(users: 2, childBytes: FanoutChunk.bytesMax)
        first.append([Self.device(1, slot: firstSlot)])
        first.append([Self.device(1, slot: secondSlot), Self.device(2)])
        #expect(first.children.map(\.owners) == [[0, 1]])
        let middle = first.children[0].before
        var repeated = chunk(from: middle, users: 2)
        repeated.append([Self.device(1, slot: firstSlot)])
        #expect(repeated.children.map(\.mayRepeat) == [false])
        var next = FanoutCursor()
        (next.user, next.deviceCount, next.sharedTokens) = (1, 1, first.end.sharedTokens)
        var second = chunk(from: next, users: 2)
        second.append([Self.device(1, slot: secondSlot), Self.device(2)])
        #expect(second.children.map(\.mayRepeat) == [true, false])
    }

    @Test func `A second child is marked if the first chunk ended within the devices of the first user`() {
        var first = chunk(users: 2, childBytes: FanoutChunk.bytesMax / 2)
        first.append(Self.devices(1..<4))
        #expect(first.end.user == 0 && first.children.count == 2)
        var second = chunk(from: first.end, users: 2)
        second.append(Self.devices(1..<4))
        second.append([Self.device(1, slot: 2)])
        #expect(second.children.map(\.mayRepeat) == [false, true])
    }

    @Test func `Large children make a small chunk`() {
        var chunk = chunk(users: 1, childBytes: FanoutChunk.bytesMax / 3)
        chunk.append(Self.devices(0..<10))
        #expect(chunk.isFull && chunk.children.count == 3)
        var single = self.chunk(users: 1, childBytes: FanoutChunk.bytesMax * 2)
        single.append(Self.devices(0..<10))
        #expect(single.children.count == 1)
    }

    @Test func `The cursor before a child makes the next chunk begin with it`() {
        var chunk = chunk(users: 3)
        for number in 0..<3 { chunk.append(Self.devices(UInt64(number * 10)..<UInt64(number * 10 + 3))) }
        for (number, child) in chunk.children.enumerated() {
            var next = self.chunk(from: child.before, users: 3)
            for user in next.nextUsers { next.append(Self.devices(UInt64(user * 10)..<UInt64(user * 10 + 3))) }
            #expect(next.children.map(\.device) == chunk.children[number...].map(\.device))
            #expect(next.end == chunk.end)
        }
    }

    @Test func `A cursor survives its header`() {
        var cursor = FanoutCursor()
        #expect(FanoutCursor(cursor.text) == cursor)
        (cursor.user, cursor.deviceCount, cursor.usersWithoutDevice) = (999, 100_000, 12)
        cursor.key = Registration.Key(token: UUIDValue(high: .max, low: 1), slot: UUIDValue(high: 3, low: .max))
        #expect(FanoutCursor(cursor.text) == cursor && cursor.text.utf8.count <= 100)
        cursor.sharedTokens.insert(UUIDValue(high: 1, low: 7))
        #expect(FanoutCursor(cursor.text) == cursor && cursor.text.hasSuffix(" +00000007"))
        cursor.key = nil
        #expect(FanoutCursor(cursor.text) == cursor)
    }

    @Test(arguments: [
        "", "1", "0 0 0 +1", "0 0 0 +0000000x", "+00000007", "1 2", "1 2 3 4", "-1 0 0", "1 2 x", "1 2 99999999",
        "0 0 0 a b", "0 0 0 0 0 0",
    ])
    func `Another text is no cursor`(_ text: String) {
        #expect(FanoutCursor(text) == nil)
    }

    @Test func `One user with a token in two slots gets one child for the token`() {
        var chunk = chunk(users: 1)
        chunk.append([Self.device(1), Self.device(1, slot: 4), Self.device(2)])
        #expect(chunk.children.map(\.device) == [Self.device(1), Self.device(2)])
        #expect(chunk.end.deviceCount == 2)
    }
}

extension FanoutChunk.Child {
    fileprivate var owners: [Int] { [user] + otherOwners }
}
