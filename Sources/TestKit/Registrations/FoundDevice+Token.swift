public import Registrations

extension FoundDevice {
    public init(key: Registration.Key, token: String, registeredAt: Int64) {
        self.init(key: key, tokenDigits: Array(token.utf8), registeredAt: registeredAt)
    }

    public var token: String { String(decoding: tokenDigits, as: UTF8.self) }
}
