public import Crypto

/// A fixed, published provider key. A random key would make two runs of a simulation with the same seed differ. The key
/// protects nothing.
public enum KnownProviderKey {
    public static let privateKey = try? ES256PrivateKey(
        pem: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLJ1wGlh6o8xExcXA
            PGb9DBd8NwkXRG32OgsGqX4WysmhRANCAAQ+5k98gHNZTvOKvh+eI2laqEyGWEgI
            Bjbssm0C7yBfX3ABODetdjXzGoDIWnmY7aq5yJ5w8wJ9osRKjaiK8ufu
            -----END PRIVATE KEY-----
            """)
}
