import COpenSSL

/// The OpenSSL library that this process has loaded.
public enum CryptoLibrary {
    public static var version: String {
        guard let text = OpenSSL_version(OPENSSL_FULL_VERSION_STRING) else { return "-" }
        return String(cString: text)
    }
}
