import AMQP
import Crypto
import Hashing

/// A hash of the id and of every byte of the body of a request. All duplicates of the request share this key. The body
/// names the app. A request with a corrected body has another key.
public struct DeduplicationKey: Sendable, Hashable {
    let high: UInt64
    let low: UInt64
}

extension SecretMixer {
    /// Returns the key of a request. With 128 bits, a chance collision during the life of a process is practically
    /// impossible. The secret of the mixer prevents constructed collisions.
    func deduplicationKey(id: UUIDValue, body: UnsafeRawBufferPointer) -> DeduplicationKey {
        let content = hash(body)
        // If two ids differ in only one half, both halves of their keys must still differ. The high half selects the
        // stripe, and the low half selects the slot.
        let low = mix(id.low, mix(id.high, content))
        return DeduplicationKey(high: mix(id.high ^ low, content &+ 1), low: low)
    }

    /// Returns a hash of the headers and of the properties that follow them, from `delivery-mode` to `cluster-id`.
    /// Excludes headers whose names begin with `x-`. Two publishes of the same body rarely share the hash, since times,
    /// traces and correlation ids differ.
    func fingerprint(of properties: MessageProperties) -> UInt32 {
        UInt32(truncatingIfNeeded: properties.publishersSum { hash($0) })
    }
}
