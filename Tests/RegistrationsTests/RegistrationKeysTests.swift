import Crypto
import Glibc
import Registrations
import TestKit
import Testing

@Suite struct RegistrationKeysTests {
    private static let first = String(repeating: "A", count: 43) + "="
    private static let second = String(repeating: "B", count: 42) + "A="

    private static func file(index: String = first, active: Int? = nil, keys: String) -> [UInt8] {
        let active = active.map { #""active_key":\#($0),"# } ?? ""
        return Array(#"{"index_key":"\#(index)",\#(active)"data_keys":[\#(keys)]}"#.utf8)
    }

    private static func key(_ id: Int, _ key: String = second) -> String { #"{"id":\#(id),"key":"\#(key)"}"# }

    @Test(arguments: [(nil, 30), (2, 2), (7, 7), (30, 30)] as [(Int?, Int)])
    func `The active data key encrypts, or else the one with the highest id`(named: Int?, active: Int) throws {
        let keys = [Self.key(2), Self.key(30, String(repeating: "C", count: 42) + "A="), Self.key(7)]
        let text = Self.file(active: named, keys: keys.joined(separator: ","))
        #expect(try RowCipher(RegistrationKeys(json: text, source: "k")).activeKeyID == active)
    }

    @Test func `A data key is added, activated, and removed`() throws {
        func after(_ edit: RegistrationKeys.Edit, _ keys: RegistrationKeys) throws -> RegistrationKeys {
            try RegistrationKeys(json: keys.file(after: edit), source: "k")
        }
        func ids(_ keys: RegistrationKeys) throws -> [String] {
            try keys.dataKeySummaries().map { "\($0.id)\($0.isActive ? " active" : "")" }
        }
        let first = try RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "k")
        #expect(try ids(first) == ["1 active"])
        let added = try after(.add, first)
        #expect(try ids(added) == ["1 active", "2"])
        let activated = try after(.activate(2), added)
        #expect(try ids(activated) == ["1", "2 active"])
        #expect(try after(.activate(1), activated) == added)
        let removed = try after(.remove(1), activated)
        #expect(try ids(removed) == ["2 active"])
        #expect(throws: RegistrationKeysError.self) { try after(.remove(2), activated) }
        #expect(throws: RegistrationKeysError.self) { try after(.remove(3), activated) }
        let error = #expect(throws: RegistrationKeysError.self) { try after(.activate(1), removed) }
        #expect(error?.code == .invalidEdit && error?.message == "it has no data key 1 (data keys: 2)")
    }

    @Test func `The id of a removed data key is not used again`() throws {
        func after(_ edit: RegistrationKeys.Edit, _ keys: RegistrationKeys) throws -> RegistrationKeys {
            try RegistrationKeys(json: keys.file(after: edit), source: "k")
        }
        func hasMember(_ text: [UInt8]) -> Bool { String(decoding: text, as: UTF8.self).contains("newest_key") }
        let added = try after(.add, RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "k"))
        let removed = try after(.remove(2), added)
        #expect(removed.newestKeyID == 2)
        #expect(try hasMember(added.file(after: .remove(2))) && hasMember(removed.file(after: .activate(1))))
        let next = try after(.add, removed)
        #expect(try next.dataKeySummaries().map(\.id) == [1, 3] && next.newestKeyID == 3)
        // Earlier versions of Martlet refuse a file with the member.
        #expect(try !hasMember(removed.file(after: .add)) && !hasMember(next.file(after: .activate(3))))
        #expect(try hasMember(next.file(after: .remove(3))))
    }

    @Test(arguments: [nil, 32_767] as [Int?])
    func `No data key follows the highest id`(newest: Int?) throws {
        let member = newest.map { #""newest_key":\#($0),"# } ?? ""
        let text = #"{"index_key":"\#(Self.first)",\#(member)"data_keys":[\#(Self.key(newest == nil ? 32_767 : 1))]}"#
        let keys = try RegistrationKeys(json: Array(text.utf8), source: "k")
        let error = #expect(throws: RegistrationKeysError.self) { try keys.file(after: .add) }
        #expect(error?.code == .invalidEdit && error?.message.contains("highest id of a data key, 32767") == true)
    }

    @Test func `A fingerprint shows different keys with one id, and no key`() throws {
        let keys = [Self.second, String(repeating: "C", count: 42) + "A="].map { Self.file(keys: Self.key(1, $0)) }
        let fingerprints = try keys.map {
            try RegistrationKeys(json: $0, source: "k").dataKeySummaries()[0].fingerprint
        }
        #expect(fingerprints[0] != fingerprints[1] && fingerprints.allSatisfy { $0.utf8.count == 8 })
        // The hexadecimal digits of the first bytes of the keys.
        #expect(fingerprints[0] != "04104104" && fingerprints[1] != "08208208")
    }

    @Test(arguments: [
        ("", "not JSON"), ("[]", "missing, unknown or invalid"), ("{}", "missing, unknown or invalid"),
        (#"{"index_key":"AAAA","data_keys":[]}"#, "missing, unknown or invalid"),
        (String(decoding: file(keys: ""), as: UTF8.self), "0 data keys"),
        (String(decoding: file(keys: key(1, "AAAA")), as: UTF8.self), "missing, unknown or invalid"),
        (String(decoding: file(keys: key(0)), as: UTF8.self), "missing, unknown or invalid"),
        (String(decoding: file(keys: key(32_768)), as: UTF8.self), "missing, unknown or invalid"),
        (String(decoding: file(keys: "\(key(3)),\(key(3))"), as: UTF8.self), "two data keys have the id 3"),
        (String(decoding: file(keys: key(1, first)), as: UTF8.self), "equals the index key"),
        (String(decoding: file(active: 2, keys: key(1)), as: UTF8.self), "no data key has this id"),
        (
            String(decoding: file(keys: key(1)), as: UTF8.self).replacing("}]}", with: #"}],"newest_key":0}"#),
            "missing, unknown or invalid"
        ),
        (
            String(decoding: file(keys: (1...101).map { key($0) }.joined(separator: ",")), as: UTF8.self),
            "101 data keys"
        ),
    ])
    func `Other files are refused without a part of a key`(text: String, reason: String) {
        let error = #expect(throws: RegistrationKeysError.self) {
            try RegistrationKeys(json: Array(text.utf8), source: "keys.json")
        }
        #expect(error?.code == .malformed && error?.message.contains(reason) == true)
        #expect(error?.message.contains("AAAA") == false && error?.message.contains("keys.json") == true)
    }

    @Test func `An unknown member, which may be a key, is not shown`() {
        let text = #"{"index_key":"\#(Self.first)","data_keys":[\#(Self.key(1))],"c2VjcmV0":1}"#
        let error = #expect(throws: RegistrationKeysError.self) {
            try RegistrationKeys(json: Array(text.utf8), source: "keys.json")
        }
        #expect(error?.message.contains("c2VjcmV0") == false)
    }

    @Test func `Only the owner and its group may read a key file`() throws {
        let folder = try TemporaryDirectory("keys")
        let text = String(decoding: try RegistrationKeys.generatedFile(), as: UTF8.self)
        let path = try folder.write("keys.json", text)
        for mode: mode_t in [0o600, 0o640, 0o400, 0o440] {
            try #require(chmod(path, mode) == 0)
            #expect(throws: Never.self) { try RegistrationKeys(path: path) }
        }
        for mode: mode_t in [0o644, 0o660, 0o700, 0o641, 0o4600] {
            try #require(chmod(path, mode) == 0)
            let error = #expect(throws: RegistrationKeysError.self) { try RegistrationKeys(path: path) }
            #expect(error?.code == .exposed && error?.message.hasSuffix("run: chmod 640 \(path)") == true)
        }
    }

    @Test func `A missing file, a folder and a large file are refused`() throws {
        let folder = try TemporaryDirectory("keys")
        let missing = #expect(throws: RegistrationKeysError.self) { try RegistrationKeys(path: folder.file("none")) }
        #expect(missing?.code == .unreadable)
        let other = #expect(throws: RegistrationKeysError.self) { try RegistrationKeys(path: folder.path) }
        #expect(other?.code == .unreadable && other?.message.contains("not a regular file") == true)
        let path = try folder.write("large", String(repeating: " ", count: RegistrationKeys.fileBytesMax + 1))
        try #require(chmod(path, 0o600) == 0)
        let large = #expect(throws: RegistrationKeysError.self) { try RegistrationKeys(path: path) }
        #expect(large?.code == .malformed && large?.message.contains("has more than") == true)
    }

    @Test func `The remedy for a missing file is a command`() throws {
        let folder = try TemporaryDirectory("keys")
        let path = folder.file("a key's file")
        let error = #expect(throws: RegistrationKeysError.self) { try RegistrationKeys(path: path) }
        #expect(error?.message.hasSuffix("run: martlet registrations keys '\(folder.path)/a key'\\''s file'") == true)
    }
}
